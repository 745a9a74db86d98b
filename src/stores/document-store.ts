import { AppError } from '../errors.ts'
import { MAX_METADATA_FIELDS } from '../schemas/bounds.ts'
import type { DocumentSort } from '../schemas/document.ts'
import type { Filter, Metadata, MetadataPatch } from '../schemas/metadata.ts'
import type { FileStore, NewFile, StoredFile } from './file-store.ts'
import type { SourceStore, StoredSource } from './source-store.ts'
import type { CountedTerms, TermCountStore } from './term-counts.ts'

/** `pending → processing → ready | failed`; a retried document goes back to `pending`. */
export const DOCUMENT_STATUSES = ['pending', 'processing', 'ready', 'failed'] as const
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number]

export interface DocumentFailure {
  code: string
  message: string
}

export interface NewDocument {
  id: string
  /** Empty where ingestion is to read it out of `file`. */
  text: string
  file?: NewFile | undefined
  title?: string | undefined
  url?: string | undefined
  metadata?: Metadata | undefined
  /** Where the content was fetched from. */
  source?: StoredSource | undefined
}

/** Tells a repeated request from a new one. */
export interface Idempotency {
  key: string
  /** Of what is to be stored: the same key with another digest is a mistake. */
  digest: string
}

/**
 * A document as the document store holds it, without its text. While a replacement is under way, or after it has
 * failed, `title`, `url`, `metadata`, `file`, `characters` and `chunkCount` are still those of the revision
 * that is served. Times are milliseconds since the epoch.
 */
export interface StoredDocument {
  id: string
  title: string | undefined
  url: string | undefined
  metadata: Metadata | undefined
  /** What it was sent as, if not as text. */
  file: StoredFile | undefined
  /** Where the newest content was fetched from, if it was; lists are without it. */
  source?: StoredSource | undefined
  status: DocumentStatus
  error: DocumentFailure | undefined
  /** How often ingestion was begun since the document was added, replaced or retried. */
  attempts: number
  /** Grows with each replacement of the content, from 1. */
  revision: number
  /** The revision whose chunks there are; nothing before the first is ready. */
  servedRevision: number | undefined
  chunkCount: number
  /** Length of the text in UTF-16 code units, the unit of every offset. */
  characters: number
  createdAt: number
  updatedAt: number
}

/** By this it is known whether a client has changed a document meanwhile. */
export type Version = Pick<StoredDocument, 'revision' | 'metadata'>

/** Distinguishes a claim from every other one that there ever was; an `attempt` is counted again after a release. */
export interface Claim {
  documentId: string
  claim: number
}

/** One claim of one document. `completeJob`, `failJob` and `releaseJob` take effect only while this very claim is the current one. */
export interface IngestionJob extends Claim {
  revision: number
  /** 1 for the first attempt since the document was added, replaced or retried. */
  attempt: number
  title: string | undefined
  url: string | undefined
  /** Of this revision. */
  metadata: Metadata | undefined
  text: string
  file: StoredFile | undefined
}

/** A chunk of a document; `start` and `end` are offsets into the document's text, in UTF-16 code units. */
export interface NewChunk {
  /** From `reserveChunkKeys`: unique for ever, never used again, fits 32 bits. */
  key: number
  ordinal: number
  text: string
  /** The headings above the chunk, outermost first, joined by ` > `; empty where there are none. */
  heading: string
  start: number
  end: number
  /** Where it begins and ends in a file that has pages, from 1. */
  page?: number | undefined
  pageEnd?: number | undefined
}

/** What made the vectors that are kept. */
export interface EmbeddingModel {
  /** The model's name. */
  model: string
  /** How many numbers each vector has. */
  dimension: number
}

/** One unit vector per chunk, one after another, in the order of the chunks. */
export interface ChunkVectors extends EmbeddingModel {
  values: Float32Array<ArrayBuffer>
}

/** Vectors read back, with the keys of the chunks they belong to. */
export interface KeyedVectors {
  keys: Uint32Array<ArrayBuffer>
  /** Length of each vector; 0 where there are none. */
  dimension: number
  values: Float32Array<ArrayBuffer>
}

/** The chunks of a long document, kept as a file of chunk batches: see `packChunkBatch`. */
export interface StagedChunks {
  /** The number of the file, which no document has. */
  file: number
  /** From `reserveChunkKeys`: the first chunk's, the others follow. */
  firstKey: number
  /** How many chunks there are. */
  count: number
  /** Length of the document's text, in UTF-16 code units. */
  characters: number
}

/** A chunk with what a hit shows of its document. */
export interface StoredChunk extends NewChunk {
  /** Stable public identifier, `<documentId>-<revision>-<ordinal>`. */
  id: string
  documentId: string
  title: string | undefined
  url: string | undefined
  metadata: Metadata | undefined
}

/** Names of the collections whose documents may be changed; null stands for documents in no collection. */
export type Among = readonly (string | null)[]

export interface StoreCounts {
  documents: Record<DocumentStatus, number>
  chunks: number
  /** Documents that wait for ingestion or are in it. */
  jobs: number
}

/** Which documents; what is given must hold of them. */
export interface DocumentSelection {
  filter?: Filter | undefined
  status?: DocumentStatus | readonly DocumentStatus[] | undefined
  /** Stands, whatever its case, in the title, or in what goes for it: the file's name, or the id. */
  title?: string | undefined
}

export interface ListQuery extends DocumentSelection {
  limit: number
  /** Newest first by itself. The page begins at the cursor or, of a list by age, after the document with an id. */
  sort?: DocumentSort | undefined
  cursor?: string | undefined
  after?: string | undefined
}

export interface DocumentPage {
  documents: StoredDocument[]
  /** Hand it back to read on; absent on the last page. */
  nextCursor: string | undefined
}

export interface ChunkPage {
  chunks: StoredChunk[]
  /** Hand it back to read on; absent on the last page. */
  nextCursor: string | undefined
}

/**
 * The document store: it alone says which documents and chunks exist. Every promise that resolves after a
 * write resolves after the write is durable. Indexes are derived and may hold keys that are not (yet, or
 * any more) here; what is not here is never shown.
 */
export interface DocumentStore extends FileStore, SourceStore {
  /**
   * Stores a document as `pending` with its job. With `idempotency`, a key that a document was stored with
   * before answers that document, for as long as it exists. Throws `queue_full` when too many documents
   * wait, `storage_full` when the disk is, `idempotency_conflict` for a known key with another digest.
   */
  add(document: NewDocument, idempotency?: Idempotency): Promise<StoredDocument>
  /**
   * Makes this the content of the document with this id, or adds it where there is none. It is `pending`
   * with a new revision, and an earlier claim of it is no longer current; what is served stays until
   * `completeJob`. Throws as `add`, and `document_not_found` where the id is that of a document elsewhere than `among`,
   * or no document is any more as it was `before`.
   */
  put(document: NewDocument, among?: Among, before?: Version): Promise<StoredDocument>
  get(id: string): Promise<StoredDocument | undefined>
  /** Whether there is a document that was stored with this idempotency key. */
  hasKey(key: string): Promise<boolean>
  /** An unknown cursor, or one of another order, throws `invalid_request` with param `cursor`; what `signal` was aborted with is thrown, too. */
  list(query: ListQuery, signal?: AbortSignal): Promise<DocumentPage>
  /** How many documents `list` goes through. */
  countListed(selection: DocumentSelection, signal?: AbortSignal): Promise<number>
  /**
   * Changes metadata alone, of what is served and of what is to replace it. With `reclaim` a claim of the document is
   * no longer current: its job waits again. Nothing if there is no such document, or none `among` these; throws
   * `invalid_request` where the fields become too many.
   */
  patchMetadata(
    id: string,
    patch: MetadataPatch,
    reclaim: boolean,
    among?: Among,
  ): Promise<StoredDocument | undefined>
  /** Removes document, text, file, chunks and job at once. Answers the keys of the removed chunks, or nothing if there was no such document, or none `among` these. */
  delete(id: string, among?: Among): Promise<number[] | undefined>
  /** Puts a failed document back to `pending`. Throws `document_not_found` or `document_not_failed`. */
  retry(id: string): Promise<StoredDocument>

  /** Gives every claim of an earlier process back to the queue; called once, before the first claim. Answers how many. */
  recoverJobs(): Promise<number>
  /** Claims jobs that are due, oldest first, fewer where their texts are long; their documents become `processing` and their attempt is counted. */
  claimJobs(limit: number): Promise<IngestionJob[]>
  /**
   * In one step: the chunks in, an earlier revision's out, title, url and metadata those of the claimed revision, the
   * document `ready`, the job gone. `text` is what was read out of a file; `terms` are those of the chunks, where they
   * are counted. Answers the keys superseded; nothing if the claim is no longer current.
   */
  completeJob(
    job: Claim,
    chunks: readonly NewChunk[],
    text?: string,
    terms?: CountedTerms,
  ): Promise<number[] | undefined>
  /**
   * As `completeJob`, of chunks that are too many to be in memory at once; the file is gone if it answers keys.
   * Of what was read out of a file no more than the chunks is kept: its text is theirs.
   */
  completeStaged(
    job: Claim,
    chunks: StagedChunks,
    terms?: CountedTerms,
  ): Promise<number[] | undefined>
  /** With `retryAt` the document waits as `pending` until then; without, it is `failed`. Either way the failure is kept. */
  failJob(job: Claim, failure: DocumentFailure, retryAt?: number): Promise<boolean>
  /**
   * Gives a claim back unfinished, without counting it as an attempt: neither a shutdown nor another part's
   * outage is the document's fault. With `failure` the document reports what it waits for.
   */
  releaseJob(job: Claim, failure?: DocumentFailure): Promise<void>
  /** When the next job is due, in milliseconds since the epoch; nothing if the queue is empty. Claimed jobs do not count. */
  nextJobAt(): Promise<number | undefined>

  /** Durably reserves `count` consecutive chunk keys, answering the first. */
  reserveChunkKeys(count: number): Promise<number>
  /**
   * Makes every key that was reserved so far, by whomever, of no use for chunks that are not kept yet: to complete with
   * one is refused with `StaleKeysError`. What was being completed is kept, or refused, when this resolves.
   */
  retireChunkKeys(): Promise<void>
  /** The chunks with these keys, in the order of the keys; what does not exist is left out. */
  readChunks(keys: readonly number[]): Promise<StoredChunk[]>
  /** Every key that exists, ascending. */
  chunkKeys(): Promise<Uint32Array>
  /** The chunks of a document in their order; nothing if there is no such document. A cursor from elsewhere, or of a revision served no more, throws `invalid_request` with param `cursor`. */
  listChunks(page: {
    documentId: string
    limit: number
    cursor?: string | undefined
  }): Promise<ChunkPage | undefined>
  /** The keys of every chunk whose document the filter takes, ascending. Throws what `signal` was aborted with. */
  matchingKeys(filter: Filter, signal?: AbortSignal): Promise<Uint32Array>

  /** What made the vectors that are kept; nothing where there are none. */
  embedding(): Promise<EmbeddingModel | undefined>
  /** Grows when all vectors are made anew: an index of earlier ones is of no use. */
  vectorsGeneration(): Promise<number>
  /**
   * Keeps vectors of chunks, and answers the keys of those that are still there: of what was removed meanwhile none is
   * kept. The first vectors say what `embedding` is; throws for those of another one.
   */
  addVectors(vectors: KeyedVectors, model: string): Promise<number[]>
  /** How many of a document's chunks have no vector; 0 where there is no such document. */
  countWithoutVector(id: string): Promise<number>
  /** The vectors of these chunks, in ascending order of the keys; what has none is left out. */
  readVectors(keys: readonly number[]): Promise<KeyedVectors>
  /** The key of every chunk that has a vector, ascending. */
  vectorKeys(): Promise<Uint32Array>

  readonly terms: TermCountStore

  /** Tells this document store from every other: an index of another one is of no use. */
  identity(): Promise<string>
  counts(): Promise<StoreCounts>
  /** Throws `store_unavailable` when the document store cannot read and write. */
  check(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

// About as long as a worker takes to make room for some of those that were refused.
const RETRY_SECONDS = 5

export function queueFull(): AppError {
  return new AppError('queue_full', 'Too many documents wait for ingestion', {
    retryAfter: RETRY_SECONDS,
  })
}

export function documentNotFound(id: string): AppError {
  return new AppError('document_not_found', `There is no document "${id}"`, { param: 'id' })
}

export function idempotencyConflict(): AppError {
  const message = 'This Idempotency-Key came with another document before'
  return new AppError('idempotency_conflict', message, { param: 'idempotency-key' })
}

export function tooManyFields(): AppError {
  const message = `metadata: must not have more than ${MAX_METADATA_FIELDS} fields`
  return new AppError('invalid_request', message, { param: 'metadata' })
}
