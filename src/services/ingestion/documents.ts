import { hash, randomUUIDv7 } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { COLLECTION } from '../../schemas/bounds.ts'
import type {
  Deletion,
  DeletionQuery,
  Document,
  DocumentCreated,
  DocumentPatch,
} from '../../schemas/document.ts'
import type { DocumentBatch, DocumentBatchResult } from '../../schemas/document-batch.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import { placedIn } from '../../schemas/metadata.ts'
import {
  type Among,
  type DocumentStore,
  documentNotFound,
  type NewDocument,
  queueFull,
} from '../../stores/document-store.ts'
import type { CompletionWaiter, Goal } from './completion-waiter.ts'
import { type Bounded, type ChangeDependencies, createDocumentChanges } from './document-changes.ts'
import {
  createDocumentReads,
  type DocumentReads,
  type ReadDependencies,
  toCreated,
  toDocument,
} from './document-reads.ts'

interface Dependencies extends ChangeDependencies, ReadDependencies {
  store: ChangeDependencies['store'] & Pick<DocumentStore, 'add' | 'put' | 'retry'>
  completionWaiter: Pick<CompletionWaiter, 'wait'>
}

export interface Content extends Omit<NewDocument, 'id'> {
  /** Into which the document goes. */
  collection?: string | undefined
}

export interface Documents extends DocumentReads {
  /**
   * Resolves once the document is durable; throws `queue_full` and `storage_full`. With a key that came before
   * it answers the document of that time, or throws `idempotency_conflict` if that had another digest.
   */
  create(content: Content, idempotencyKey?: string, digest?: string): Promise<DocumentCreated>
  /** Each as `create`, or as `put` where it has an id, on its own; throws what the first throws if none could be stored. */
  createAll(items: DocumentBatch): Promise<DocumentBatchResult>
  /** Replaces the content of a document, or adds it where the id is new. Throws as `create`. */
  put(id: string, content: Content, among?: Among): Promise<DocumentCreated>
  /**
   * What has become of a document as soon as the goal is reached or it is `failed`, or else after so many seconds or
   * when `signal` is aborted; what was known before if it was deleted meanwhile.
   */
  awaitCompletion(
    known: DocumentCreated,
    wait: { seconds: number; goal: Goal },
    signal: AbortSignal,
  ): Promise<DocumentCreated>
  /** Throws `document_not_found`. The very next query no longer finds it. */
  remove(id: string, among?: Among): Promise<void>
  /** See `createDocumentChanges`. */
  removeAll(query: DeletionQuery & Bounded, signal: AbortSignal): Promise<Deletion>
  /** See `createDocumentChanges`; throws `document_not_found`. */
  patch(id: string, patch: DocumentPatch & Bounded, signal: AbortSignal): Promise<Document>
  /** Throws `document_not_found` and `document_not_failed`. */
  retry(id: string): Promise<DocumentCreated>
}

/** What clients do with documents. Ingestion itself happens behind it, see `createIngestion`. */
export function createDocuments(dependencies: Dependencies): Documents {
  const { store, completionWaiter, wake } = dependencies
  const changes = createDocumentChanges(dependencies)
  const { embeddingProgress, ...reads } = createDocumentReads(dependencies)

  const create: Documents['create'] = async (given, key, digest) => {
    const content = placed(given)
    const idempotency = key && { key, digest: digest ?? digestOf([content.text], content) }
    // Identifiers sort by time, which keeps inserts into the store's index local.
    const id = `doc_${randomUUIDv7().replaceAll('-', '')}`
    const stored = await store.add({ id, ...content }, idempotency || undefined)
    wake()
    return toCreated(stored)
  }

  const put: Documents['put'] = async (id, content, among) => {
    const stored = await store.put({ id, ...placed(content) }, among)
    wake()
    return toCreated(stored)
  }

  return {
    create,
    put,
    createAll: (items) => storeAll(items, { create, put }),

    async awaitCompletion(known, { seconds, goal }, signal) {
      if (seconds === 0) return known
      const document = await completionWaiter.wait(known.id, seconds * 1_000, goal, signal)
      if (!document) return known
      return {
        ...toCreated(document),
        ...(goal === 'meaning' && (await embeddingProgress(known.id))),
      }
    },

    ...reads,

    async remove(id, among) {
      if (!(await changes.remove(id, among))) throw documentNotFound(id)
    },

    removeAll: changes.removeAll,

    async patch(id, patch, signal) {
      const document = await changes.patch(id, patch, signal)
      if (!document) throw documentNotFound(id)
      return toDocument(document)
    },

    async retry(id) {
      const { status } = await store.retry(id)
      wake()
      return { id, status }
    },
  }
}

/** See `Documents.createAll`. */
export async function storeAll(
  items: DocumentBatch,
  { create, put }: Pick<Documents, 'create' | 'put'>,
): Promise<DocumentBatchResult> {
  const storeItem = async ({ id, idempotencyKey, ...input }: DocumentBatch[number]) =>
    id === undefined ? create(input, idempotencyKey) : put(id, input)
  const settled = await Promise.allSettled(items.map(storeItem))
  const failures = settled.filter((outcome) => outcome.status === 'rejected')
  if (failures[0] && failures.length === settled.length) throw failures[0].reason
  return { results: settled.map(toResult) }
}

export type Admission = ReturnType<typeof createAdmission>

/**
 * Refuses with `queue_full` what the queue has no room for before its body is read, unless the document waits
 * already or came before with the same key. The document store asks again: the queue may have filled up meanwhile.
 */
export function createAdmission(
  store: Pick<DocumentStore, 'counts' | 'get' | 'hasKey'>,
  queueLimit: number,
) {
  return async (id: string | undefined, idempotencyKey: string | undefined): Promise<void> => {
    const { jobs } = await store.counts()
    if (jobs < queueLimit) return
    if (idempotencyKey !== undefined && (await store.hasKey(idempotencyKey))) return
    const { status } = (id !== undefined && (await store.get(id))) || {}
    if (status !== 'pending' && status !== 'processing') throw queueFull()
  }
}

/** The content of a document, with its collection in the metadata. Throws `invalid_request` where that names another one. */
function placed({ collection, ...content }: Content): Omit<NewDocument, 'id'> {
  const named = content.metadata?.[COLLECTION]
  if (collection !== undefined && named !== undefined && named !== collection) {
    const message = `must be what metadata.${COLLECTION} says, or one of the two left out`
    throw refusal('collection', message)
  }
  const metadata = placedIn(collection, content.metadata)
  return metadata ? { ...content, metadata } : content
}

/** Equal for what would be stored as the same document, whatever the order of its metadata. */
export function digestOf(
  body: readonly string[],
  { title, url, metadata = {} }: Pick<NewDocument, 'title' | 'url' | 'metadata'>,
): string {
  const facts = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([...body, title, url, facts]), 'base64url')
}

/** Throws what is no failure that a client may see. */
function toResult(outcome: PromiseSettledResult<DocumentCreated>) {
  if (outcome.status === 'fulfilled') return outcome.value
  const { reason } = outcome
  if (!(reason instanceof AppError)) throw reason
  return { error: { code: reason.code, message: reason.message } }
}
