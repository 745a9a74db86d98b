import type { EvaluationStore, QuestionStore } from '@agent-server/evaluation'
import type { AcceptedTools, SkillCopies } from './accepted.ts'
import type { ArtifactStore } from './artifact-store.ts'
import type { AuditStore } from './audit-store.ts'
import type { CollectionNames } from './collection-names.ts'
import type { CollectionStore } from './collection-store.ts'
import type { ConversationStore } from './conversation-store.ts'
import type { DocumentStore, EmbeddingModel, KeyedVectors, StoredChunk } from './document-store.ts'
import type { FeedbackStore } from './feedback-store.ts'
import type { KeyStore } from './key-store.ts'
import type { DocumentLookup } from './lookup.ts'
import type { Outbox } from './outbox.ts'
import type { McpAccountStore, PeopleStore, SessionStore } from './people-store.ts'
import type { RunStore } from './run-store.ts'
import type { UsageStore } from './usage-store.ts'

/** A database with everything that the server stores in it. */
export interface OpenedStore extends DocumentStore {
  /** How many rows each table has. */
  countRows(tables: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** How many bytes tables and their indexes take; nothing of a database that is too large to be measured. */
  tableBytes(): Promise<ReadonlyMap<string, number>>
  /** Replaces all vectors. */
  readonly replacement: VectorReplacement
  /**
   * Runs `work` while no other server holds the lock of that name; the signal passed to it is also aborted if the lock
   * is lost. Returns false, without running it, if another server holds the lock.
   */
  withExclusiveLock(
    name: LockName,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<boolean>
  readonly lookup: DocumentLookup
  readonly outbox: Outbox
  readonly keys: KeyStore
  readonly collectionNames: CollectionNames
  readonly collections: CollectionStore
  readonly artifacts: ArtifactStore
  /** Responses that clients continue. */
  readonly responses: ArtifactStore
  /** Runs of the agent that wait for approval. */
  readonly runs: ArtifactStore
  readonly conversations: ConversationStore
  /** What led to the last answers. */
  readonly runRecords: RunStore
  /** Ratings of answers. */
  readonly feedback: FeedbackStore
  /** Questions whose right documents are known. */
  readonly questions: QuestionStore
  /** Measurements with them. */
  readonly evaluations: EvaluationStore
  readonly acceptedTools: AcceptedTools
  readonly skillCopies: SkillCopies
  readonly people: PeopleStore
  /** Sessions of people who have signed in to the web UI. */
  readonly sessions: SessionStore
  readonly mcpAccounts: McpAccountStore
  readonly audit: AuditStore
  /** What models have cost, and whom. */
  readonly usage: UsageStore
}

/** Whether data of an earlier version are copied before an upgrade: where there is room, always, or never. */
export type CopyPolicy = 'try' | 'require' | 'off'

/** Adding vectors, contexts or descriptions of pictures; or following one folder of files. */
export type LockName = 'vectors' | 'contexts' | 'pictures' | `folder:${string}`

/** Makes new vectors for all chunks, beside those in use, in steps that survive a restart. */
export interface VectorReplacement {
  /**
   * Runs `work` while nobody else is replacing vectors; the signal passed to it is also aborted if that can no longer
   * be guaranteed. Returns false, without running it, if somebody else is replacing vectors.
   */
  exclusively(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<boolean>
  /** Begins a replacement, or resumes one with the same embedding. Returns how many chunks have a new vector. */
  begin(embedding: EmbeddingModel): Promise<number>
  /** The unfinished replacement, if any, with the number of chunks that have a new vector. */
  unfinished(): Promise<(EmbeddingModel & { vectors: number }) | undefined>
  /** Some chunks with keys after `key`, ascending, that have no new vector yet; none if all have one. */
  chunksWithout(key: number, limit: number): Promise<StoredChunk[]>
  /** Stores the new vectors of these chunks; those of chunks removed meanwhile are dropped. */
  add(vectors: KeyedVectors): Promise<void>
  /** Replaces the old vectors by the new ones in one step. Throws an Error unless every chunk has one. */
  finish(): Promise<void>
}

/** A database that several servers have open at the same time. */
export interface SharedStore extends OpenedStore {
  /** Reports other servers' changes as soon as possible; reports may be missed, so poll occasionally as well. */
  subscribe(listener: StoreListener): void
}

/** Called when another server that shares the store changes something. Must not throw. */
export interface StoreListener {
  /** There may be a new job to claim. */
  notifyJob(): void
  /** This document is ready or has failed; without an id, any document may be. */
  notifyDocument(id?: string): void
}
