import type { ArtifactStore } from './artifact-store.ts'
import type { DocumentStore, EmbeddingModel, KeyedVectors, StoredChunk } from './document-store.ts'
import type { OpenLockFile } from './lock-file.ts'
import type { DocumentLookup } from './lookup.ts'
import type { Outbox } from './outbox.ts'
import type { SkillCopies } from './skill-copies.ts'

/** A database with everything that the server keeps in it. */
export interface OpenedStore extends DocumentStore {
  /** Makes all vectors anew. */
  readonly replacement: VectorReplacement
  /** As `replacement.alone`, for whoever makes the vectors that are missing. */
  readonly backlogAlone: VectorReplacement['alone']
  readonly lookup: DocumentLookup
  readonly outbox: Outbox
}

/** Makes the vectors of all chunks anew, beside those in use, in steps that survive a restart. */
export interface VectorReplacement {
  /**
   * Does `work` while nobody else makes vectors anew, with a signal that is aborted, too, where that can no longer be
   * promised. False, and nothing is done, where somebody does.
   */
  alone(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<boolean>
  /** Begins, or goes on with what was begun for the same embedding. Answers how many chunks have a new vector. */
  begin(embedding: EmbeddingModel): Promise<number>
  /** What was begun and not finished, with the number of chunks that have a new vector. */
  begun(): Promise<(EmbeddingModel & { vectors: number }) | undefined>
  /** Some chunks after `key`, in ascending order, that have no new vector yet; none when all have one. */
  chunksWithout(key: number, limit: number): Promise<StoredChunk[]>
  /** Keeps the new vectors of these chunks; of what was removed meanwhile none is kept. */
  add(vectors: KeyedVectors): Promise<void>
  /** Puts the new vectors in the place of the old ones, in one step. Throws unless every chunk has one. */
  finish(): Promise<void>
}

/** What the agent keeps beside documents. */
export interface AgentStores {
  artifacts: ArtifactStore
  /** Responses that clients continue. */
  responses: ArtifactStore
  openLockFile: OpenLockFile
  skillCopies: SkillCopies
}

/** A database that several servers have open at the same time. */
export interface SharedStore extends OpenedStore {
  /** What the agents of all servers keep. */
  readonly agent: AgentStores
  /** Reports what other servers do, as soon as possible; a report may be missed, so look now and then as well. */
  subscribe(listener: StoreListener): void
}

/** Is called when another server that shares the store changes something. None of it may throw. */
export interface StoreListener {
  /** There may be a job to claim that was not there before. */
  jobCame(): void
  /** This document is ready or has failed; without an id, any may be. */
  documentEnded(id?: string): void
}
