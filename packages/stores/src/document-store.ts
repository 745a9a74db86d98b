import { AppError } from '@agent-server/lib/errors.ts'
import type { Labels } from '@agent-server/lib/labels.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { MAX_METADATA_FIELDS } from '@agent-server/schemas/bounds.ts'
import type { DocumentSort } from '@agent-server/schemas/document.ts'
import type { Filter, MetadataPatch } from '@agent-server/schemas/metadata.ts'
import type { FileStore, NewFile, StoredFile } from './file-store.ts'
import type { SourceStore, StoredSource } from './source-store.ts'

/** `pending → processing → ready | failed`; a retried document goes back to `pending`. */
export const DOCUMENT_STATUSES = ['pending', 'processing', 'ready', 'failed'] as const
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number]

export interface DocumentFailure {
  code: string
  message: string
}

export interface NewDocument extends Partial<Omit<Labels, 'access'>> {
  id: string
  /** Null for that of its collection; a document that is replaced keeps its own without it. */
  access?: readonly string[] | null | undefined
  /** Empty if ingestion has to read it from `file`. */
  text: string
  file?: NewFile | undefined
  title?: string | undefined
  url?: string | undefined
  /** Where the content was fetched from. */
  source?: StoredSource | undefined
  /** The API key that sent it: in the queue for ingestion, the keys take turns. Absent for the server's own. */
  sender?: string | undefined
}

/** Distinguishes a repeated request from a new one. */
export interface Idempotency {
  key: string
  /** The digest of what is to be stored: the same key with another digest is a conflict. */
  digest: string
}

/** What belongs to a revision of a document, besides its text. */
export interface DocumentContent extends Pick<Labels, 'access' | 'collection' | 'metadata'> {
  title: string | undefined
  url: string | undefined
  /** The file it was sent as, if it was not sent as text. */
  file: StoredFile | undefined
  /** The length of the text in UTF-16 code units, the unit of every offset. */
  characters: number
}

/**
 * A document as the document store holds it, without its text. While a replacement is in progress, or after it has
 * failed, its content and `chunkCount` are still those of the served revision. Times are milliseconds since the epoch.
 */
export interface StoredDocument extends DocumentContent, Labels {
  id: string
  /** Where the newest content was fetched from, if it was fetched; lists omit it. */
  source?: StoredSource | undefined
  status: DocumentStatus
  error: DocumentFailure | undefined
  /** How often ingestion was started since the document was added, replaced or retried. */
  attempts: number
  /** Starts at 1 and increases with each replacement of the content. */
  revision: number
  /** The revision that the existing chunks belong to; undefined until the first one is ready. */
  servedRevision: number | undefined
  chunkCount: number
  createdAt: number
  updatedAt: number
}

/** Identifies a state of a document, to detect changes that clients make in the meantime. */
export type Version = Pick<StoredDocument, 'revision' | 'collection' | 'metadata'>

/** Unique among all claims ever made, whereas an `attempt` number is reused after a release. */
export interface Claim {
  documentId: string
  claim: number
}

/** One claim of one document. `completeJob`, `failJob` and `releaseJob` only take effect while it is current. */
export interface IngestionJob extends Claim, Labels, Omit<DocumentContent, 'characters'> {
  revision: number
  /** 1 for the first attempt since the document was added, replaced or retried. */
  attempt: number
  text: string
  /** The API key that sent it; undefined for the master key and for watched folders. */
  sender: string | undefined
}

/** A chunk of a document; `start` and `end` are offsets into the document's text, in UTF-16 code units. */
export interface NewChunk {
  /** From `reserveChunkKeys`: an unsigned 32-bit integer that is never used again. */
  key: number
  ordinal: number
  text: string
  /** The headings above the chunk, outermost first, joined by ` > `; empty if there are none. */
  heading: string
  start: number
  end: number
  /** The pages on which it begins and ends, from 1, in a file that has pages. */
  page?: number | undefined
  pageEnd?: number | undefined
  /**
   * What a chat model wrote to find it by; no part of the document, and never shown as such. Of a chunk that stands for
   * a picture, its description.
   */
  context?: string | undefined
}

/** What a chunk is found by from now on, under a new key from `reserveChunkKeys`. */
export interface ChunkContext {
  key: number
  newKey: number
  context: string
}

/** The model that made the stored vectors. */
export interface EmbeddingModel {
  /** The model's name. */
  model: string
  /** The number of elements of each vector. */
  dimension: number
}

/** One unit vector per chunk, concatenated, in the order of the chunks. */
export interface ChunkVectors extends EmbeddingModel {
  values: Float32Array<ArrayBuffer>
}

/** Vectors read back, with the keys of the chunks they belong to. */
export interface KeyedVectors {
  keys: Uint32Array<ArrayBuffer>
  /** The length of each vector; 0 if there are none. */
  dimension: number
  values: Float32Array<ArrayBuffer>
}

/** The chunks of a long document, stored as a file of chunk batches: see `packChunkBatch`. */
export interface StagedChunks {
  /** The number of the file, which belongs to no document. */
  file: number
  /** The key of the first chunk, from `reserveChunkKeys`; those of the others follow it. */
  firstKey: number
  /** The number of chunks. */
  count: number
  /** The length of the document's text, in UTF-16 code units. */
  characters: number
}

/** A chunk with the properties of its document that a hit shows. */
export interface StoredChunk extends NewChunk, Labels {
  /** Stable public identifier, `<documentId>-<revision>-<ordinal>`. */
  id: string
  documentId: string
  title: string | undefined
  url: string | undefined
}

export interface StoreCounts {
  documents: Record<DocumentStatus, number>
  chunks: number
  /** Documents that are queued for ingestion or being ingested. */
  jobs: number
}

/** Selects documents of those that are visible; all given conditions must hold. */
export interface DocumentSelection {
  /** Only documents of this conversation. */
  conversation?: string | undefined
  filter?: Filter | undefined
  status?: DocumentStatus | readonly DocumentStatus[] | undefined
  /** A case-insensitive substring of the title or, without a title, of the file's name or the id. */
  title?: string | undefined
  /** The media type of the file, or the beginning of one before `*`. */
  mediaType?: string | undefined
  /** The digest of the file. */
  sha256?: string | undefined
}

export interface ListQuery extends DocumentSelection {
  limit: number
  /** Newest first by default. A page begins at the cursor or, if sorted by age, after the document `after`. */
  sort?: DocumentSort | undefined
  cursor?: string | undefined
  after?: string | undefined
}

/** Labels as they were read; null for a field, or a list, that there was not. */
export type ExpectedLabels = Pick<LabelsPatch, 'metadata' | 'access'>

/** A change of what a document is filtered and seen by. */
export interface LabelsPatch {
  /** As clients send it, with the collection: a value sets a field, null removes it. */
  metadata?: MetadataPatch | undefined
  /** Null takes the document out of its conversation. */
  conversation?: null | undefined
  /** Null for that of its collection. */
  access?: readonly string[] | null | undefined
  /** Whose document it is from now on. */
  creator?: string | undefined
  /** The person whose document it is once it is taken out of a collection; absent for nobody's. */
  taker?: string | undefined
}

export interface DocumentPage {
  documents: StoredDocument[]
  /** Pass it to get the next page; absent on the last page. */
  nextCursor: string | undefined
}

interface ChunksRead {
  /** The visible chunks. */
  chunks: StoredChunk[]
  /** Keys of chunks that do not exist, for anybody. */
  missing: number[]
}

export interface ChunkPage {
  chunks: StoredChunk[]
  /** Pass it to get the next page; absent on the last page. */
  nextCursor: string | undefined
}

/**
 * The document store is the only authority on which documents and chunks exist. The promise of every write resolves
 * once the write is durable. Indexes are derived and may hold keys that are not (yet, or no longer) in the document
 * store; such chunks are never shown.
 *
 * What depends on who asks takes a visibility first: a document that is not visible does not exist.
 */
export interface DocumentStore extends FileStore, SourceStore {
  /**
   * Stores a document as `pending`, with its job. With `idempotency`, returns the document that was stored with the
   * same key before, as long as that one exists. Throws `queue_full` if too many documents are queued, `storage_full`
   * if the disk is full, `idempotency_conflict` for a known key with a different digest.
   */
  add(document: NewDocument, idempotency?: Idempotency): Promise<StoredDocument>
  /**
   * Makes this the content of the document with this id, or adds it if there is none. It becomes `pending` with a new
   * revision, and an earlier claim of it is no longer current; the served revision stays until `completeJob`. Throws
   * like `add`, and `document_not_found` if the document with this id is not visible, or if `before` is given and does
   * not match the document's current state. A document that is replaced stays in its conversation.
   */
  put(visibility: Visibility, document: NewDocument, before?: Version): Promise<StoredDocument>
  get(visibility: Visibility, id: string): Promise<StoredDocument | undefined>
  /** The existing documents with these ids. */
  getAll(
    visibility: Visibility,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, StoredDocument>>
  /** Whether there is a document that was stored with this idempotency key. */
  hasKey(key: string): Promise<boolean>
  /** Throws the reason of `signal`; `invalid_request` with param `cursor` if that is unknown or of another order. */
  list(visibility: Visibility, query: ListQuery, signal?: AbortSignal): Promise<DocumentPage>
  /** The total number of documents that `list` would return. */
  countListed(
    visibility: Visibility,
    selection: DocumentSelection,
    signal?: AbortSignal,
  ): Promise<number>
  /**
   * Changes only labels, both of the served revision and of a pending replacement. A claim of the document is no longer
   * current, and its job is queued again. Returns undefined if there is no such document; throws `invalid_request` if
   * there would be too many fields, and `edit_conflict` if a field is not as in `expected`, where null stands for no
   * such field.
   */
  patchLabels(
    visibility: Visibility,
    id: string,
    patch: LabelsPatch,
    expected?: ExpectedLabels,
  ): Promise<StoredDocument | undefined>
  /**
   * Removes document, text, file, chunks and job at once. Returns the keys of the removed chunks; undefined if there
   * was no such document.
   */
  delete(visibility: Visibility, id: string): Promise<number[] | undefined>
  /** Sets a failed document back to `pending`. Throws `document_not_found` or `document_not_failed`. */
  retry(visibility: Visibility, id: string): Promise<StoredDocument>

  /**
   * Puts the claims of earlier processes back into the queue (of a shared store, those whose leases have expired); call
   * once, before the first claim. Returns how many.
   */
  recoverJobs(): Promise<number>
  /**
   * Claims due jobs, and fewer if their texts are long; their documents become `processing` and their attempts are
   * counted. Senders take turns; the jobs of one come oldest first. Those of the senders `except` are left out.
   */
  claimJobs(limit: number, except?: readonly Owner[]): Promise<IngestionJob[]>
  /**
   * In one transaction: adds the chunks, removes those of an earlier revision, applies title, url and metadata of the
   * claimed revision, makes the document `ready`, and removes the job. `text` is the text read from a file. Returns the superseded keys; undefined if the claim is no longer current.
   */
  completeJob(job: Claim, chunks: readonly NewChunk[], text?: string): Promise<number[] | undefined>
  /**
   * Like `completeJob`, for a long document, whose chunks are staged in a file; that is removed if keys are returned.
   * If the text was read from a file, only its chunks are stored, and the text is reconstructed from them.
   */
  completeStaged(job: Claim, chunks: StagedChunks): Promise<number[] | undefined>
  /**
   * With `retryMs` the document is `pending` for so long, otherwise `failed`; the failure is stored. Returns whether the
   * claim was current.
   */
  failJob(job: Claim, failure: DocumentFailure, retryMs?: number): Promise<boolean>
  /**
   * Releases an unfinished claim without counting it as an attempt, because a shutdown or an outage of another
   * component is not the document's fault. With `failure`, the document reports what it is waiting for.
   */
  releaseJob(job: Claim, failure?: DocumentFailure): Promise<void>
  /**
   * When the next job is due, in milliseconds since the epoch; undefined if there is none. A job that this server has
   * claimed does not count; one claimed by another server is due when its lease expires.
   */
  nextJobAt(): Promise<number | undefined>

  /** Durably reserves `count` consecutive chunk keys and returns the first. */
  reserveChunkKeys(count: number): Promise<number>
  /**
   * Invalidates every key reserved so far, by any server, that is not yet in use: completing a job with one throws
   * `StaleKeysError`. Completions in progress have been stored or refused when this resolves.
   */
  retireChunkKeys(): Promise<void>
  /** The chunks with these keys, in the order of the keys. */
  readChunks(visibility: Visibility, keys: readonly number[]): Promise<ChunksRead>
  /** All existing keys, ascending. */
  chunkKeys(): Promise<Uint32Array>
  /**
   * The chunks of a document, in order; undefined if there is no such document. Throws `invalid_request` with param
   * `cursor` for a cursor from elsewhere, or of a revision that is no longer served.
   */
  listChunks(
    visibility: Visibility,
    page: { documentId: string; limit: number; cursor?: string | undefined },
  ): Promise<ChunkPage | undefined>
  /** The collections whose documents somebody may read whom one of these entries names, unless a document says itself. */
  readableCollections(principals: readonly string[]): Promise<string[]>
  /** The keys of all chunks whose documents are visible, ascending. Throws the reason of `signal`. */
  visibleKeys(visibility: Visibility, signal?: AbortSignal): Promise<Uint32Array>

  /** The model of the stored vectors; undefined if there are none. */
  embedding(): Promise<EmbeddingModel | undefined>
  /** Increases when all vectors are replaced: an index of earlier ones is then useless. */
  vectorsGeneration(): Promise<number>
  /**
   * Stores vectors of chunks and returns the keys of those that still exist; vectors of removed chunks are dropped. The
   * first vectors determine `embedding`; throws an Error for vectors of another model.
   */
  addVectors(vectors: KeyedVectors, model: string): Promise<number[]>
  /** How many of a document's chunks have no vector; 0 if there is no such document. */
  countWithoutVector(id: string): Promise<number>
  /** The vectors of these chunks, in ascending order of keys; chunks without one are left out. */
  readVectors(keys: readonly number[]): Promise<KeyedVectors>
  /** The key of every chunk that has a vector, ascending. */
  vectorKeys(): Promise<Uint32Array>

  /** The key of every chunk that has a context, ascending. */
  contextKeys(): Promise<Uint32Array>
  /** The key of every chunk that stands for a picture, ascending: its context is the picture's description. */
  pictureKeys(): Promise<Uint32Array>
  /** How many chunks of a document stand for a picture, and how many of these have a description. */
  countPictures(documentId: string): Promise<{ pictures: number; described: number }>
  /**
   * Gives chunks of one document their contexts and new keys; their vectors are dropped, since they were made without.
   * Returns the new keys of those that still exist. Throws `StaleKeysError` like `completeJob`.
   */
  addContexts(documentId: string, contexts: readonly ChunkContext[]): Promise<number[]>

  /** Distinguishes this document store from every other: an index of another store is useless. */
  identity(): Promise<string>
  counts(): Promise<StoreCounts>
  /**
   * Throws `store_unavailable` if the document store cannot be read or written. Says by how much its clock has jumped,
   * while nothing is deleted by age because of that.
   */
  check(signal: AbortSignal): Promise<number | undefined>
  close(): Promise<void>
}

// About as long as the workers take to make room for some of the refused documents.
const RETRY_SECONDS = 5

export function queueFull(): AppError {
  return new AppError('queue_full', 'Too many documents wait for ingestion', {
    retryAfter: RETRY_SECONDS,
  })
}

/** The limits of the documents of one conversation; bytes are those of files, or of text in UTF-8. */
export const CONVERSATION_DOCUMENTS = { most: 20, mostBytes: 100_000_000 }

export function conversationFull(): AppError {
  const { most, mostBytes } = CONVERSATION_DOCUMENTS
  const message = `A conversation takes at most ${most} documents of ${mostBytes / 1e6} MB in all: delete some, or keep them in the documents`
  return new AppError('conversation_full', message, { param: 'conversation' })
}

export function documentNotFound(id: string): AppError {
  return new AppError('document_not_found', `There is no document "${id}"`, { param: 'id' })
}

/** Whether a document was deleted, or hidden, while somebody worked on it. */
export const isDocumentGone = (error: unknown) => codeOf(error) === 'document_not_found'

export function idempotencyConflict(): AppError {
  const message = 'This Idempotency-Key was already used for a different document'
  return new AppError('idempotency_conflict', message, { param: 'idempotency-key' })
}

export function tooManyFields(): AppError {
  const message = `metadata: must not have more than ${MAX_METADATA_FIELDS} fields`
  return new AppError('invalid_request', message, { param: 'metadata' })
}
