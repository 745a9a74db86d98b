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
  /** The collection that the document is added to. */
  collection?: string | undefined
}

export interface Documents extends DocumentReads {
  /**
   * Resolves once the document is durable; throws `queue_full` and `storage_full`. If the key was used before, returns
   * the document of that time, or throws `idempotency_conflict` if that one had a different digest.
   */
  create(content: Content, idempotencyKey?: string, digest?: string): Promise<DocumentCreated>
  /** Stores each item on its own, like `put` with an id, else like `create`. Throws the first error if all fail. */
  createAll(items: DocumentBatch): Promise<DocumentBatchResult>
  /** Replaces the content of a document, or adds it if the id is new. Throws like `create`. */
  put(id: string, content: Content, among?: Among): Promise<DocumentCreated>
  /**
   * Returns the document's state as soon as it reaches the goal or is `failed`, or after `seconds`, or once `signal`
   * is aborted. Returns `known` if the document was deleted in the meantime.
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

/** What clients do with documents. Ingestion itself runs in the background: `createIngestion`. */
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
 * Before a body is read, throws `queue_full` if the queue is full, unless the document is already in it or its
 * idempotency key was used before. The document store checks again: the queue may have filled up in the meantime.
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

/** Puts the collection into the metadata of a document. Throws `invalid_request` if the metadata names another one. */
function placed({ collection, ...content }: Content): Omit<NewDocument, 'id'> {
  const named = content.metadata?.[COLLECTION]
  if (collection !== undefined && named !== undefined && named !== collection) {
    const message = `must be what metadata.${COLLECTION} says, or one of the two left out`
    throw refusal('collection', message)
  }
  const metadata = placedIn(collection, content.metadata)
  return metadata ? { ...content, metadata } : content
}

/** Equal for content that would be stored as the same document; the order of metadata is ignored. */
export function digestOf(
  body: readonly string[],
  { title, url, metadata = {} }: Pick<NewDocument, 'title' | 'url' | 'metadata'>,
): string {
  const facts = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([...body, title, url, facts]), 'base64url')
}

/** Rethrows errors that clients must not see. */
function toResult(outcome: PromiseSettledResult<DocumentCreated>) {
  if (outcome.status === 'fulfilled') return outcome.value
  const { reason } = outcome
  if (!(reason instanceof AppError)) throw reason
  return { error: { code: reason.code, message: reason.message } }
}
