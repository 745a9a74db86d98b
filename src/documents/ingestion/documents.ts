import { hash, randomUUIDv7 } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { shownMetadata } from '@agent-server/lib/labels.ts'
import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import type { Document, DocumentCreated, DocumentPatch } from '@agent-server/schemas/document.ts'
import type { DocumentBatch, DocumentBatchResult } from '@agent-server/schemas/document-batch.ts'
import {
  type DocumentStore,
  documentNotFound,
  type NewDocument,
  queueFull,
} from '@agent-server/stores'
import type { Content } from '../collections.ts'
import type { CompletionWaiter, Goal } from './completion-waiter.ts'
import {
  type ChangeDependencies,
  type Changing,
  createDocumentChanges,
} from './document-changes.ts'
import {
  createDocumentReads,
  type ReadDependencies,
  toCreated,
  toDocument,
} from './document-reads.ts'
import { createRenaming, type Renaming, type RenamingDependencies } from './rename-document.ts'

interface Dependencies extends ChangeDependencies, ReadDependencies {
  store: ChangeDependencies['store'] &
    RenamingDependencies['store'] &
    Pick<DocumentStore, 'add' | 'put' | 'retry'>
  completionWaiter: Pick<CompletionWaiter, 'wait'>
}

export type AllDocuments = ReturnType<typeof createDocuments>

type OfOne = {
  [Name in keyof AllDocuments]: AllDocuments[Name] extends (
    visibility: Visibility,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : AllDocuments[Name]
}

/** The same for one caller, with its visibility applied. */
export interface Documents extends OfOne {
  /** Stores each item on its own, like `put` with an id, else like `create`. Throws the first error if all fail. */
  createAll(items: DocumentBatch): Promise<DocumentBatchResult>
}

/** A caller's, who names documents by ids of its own, too. */
export interface OwnDocuments extends Documents {
  /** The id of a document that it may change. Throws `document_not_found`, and `not_permitted`. */
  idToChange(idOrOwnId: string): Promise<string>
}

/**
 * What is done with documents, for whoever may see them. Ingestion itself runs in the background: `createIngestion`.
 */
export function createDocuments(dependencies: Dependencies) {
  const { store, completionWaiter, wake } = dependencies
  const changes = createDocumentChanges(dependencies)
  const { embeddingProgress, ...reads } = createDocumentReads(dependencies)
  const renaming = createRenaming({ store, text: reads.text, wake })

  return {
    /**
     * Resolves once the document is durable; throws `queue_full` and `storage_full`. If the key was used before,
     * returns the document of that time, or throws `idempotency_conflict` if that one had a different digest.
     */
    async create(content: Content, key?: string, digest?: string): Promise<DocumentCreated> {
      const idempotency = key && { key, digest: digest ?? digestOfText(content) }
      // Identifiers sort by time, which keeps inserts into the store's index local.
      const id = `doc_${randomUUIDv7().replaceAll('-', '')}`
      const stored = await store.add({ id, ...content }, idempotency || undefined)
      wake()
      return toCreated(stored)
    },
    /** Replaces the content of a document, or adds it if the id is new. Throws like `create`. */
    async put(visibility: Visibility, id: string, content: Content): Promise<DocumentCreated> {
      const stored = await store.put(visibility, { id, ...content })
      wake()
      return toCreated(stored)
    },

    /**
     * Returns the document's state as soon as it reaches the goal or is `failed`, or after `seconds`, or once `signal`
     * is aborted. Returns `known` if the document was deleted in the meantime.
     */
    async awaitCompletion(
      created: DocumentCreated,
      { seconds, goal }: { seconds: number; goal: Goal },
      signal: AbortSignal,
    ): Promise<DocumentCreated> {
      if (seconds === 0) return created
      const document = await completionWaiter.wait(created.id, seconds * 1_000, goal, signal)
      if (!document) return created
      return {
        ...toCreated(document),
        ...(created.sameFile !== undefined && { sameFile: created.sameFile }),
        ...(goal === 'embeddings' && (await embeddingProgress(created.id))),
      }
    },

    ...reads,

    /** Throws `document_not_found`. The very next query no longer finds it. */
    async remove(visibility: Visibility, id: string): Promise<void> {
      if (!(await changes.remove(visibility, id))) throw documentNotFound(id)
    },

    removeAll: changes.removeAll,

    /** See `createDocumentChanges` and `createRenaming`; throws `document_not_found`. */
    async patch(
      visibility: Visibility,
      id: string,
      { title, ...patch }: Changing & Pick<DocumentPatch, 'title'> & Renaming,
      signal: AbortSignal,
    ): Promise<Document> {
      await renaming.check(visibility, id, title, patch.expected?.title)
      const document = await changes.patch(visibility, id, patch, signal)
      if (!document) throw documentNotFound(id)
      if (title === undefined || title === document.title) return toDocument(document)
      return toDocument(await renaming.rename(visibility, document, title, patch, signal))
    },

    /** Throws `document_not_found` and `document_not_failed`. */
    async retry(visibility: Visibility, id: string): Promise<DocumentCreated> {
      const { status } = await store.retry(visibility, id)
      wake()
      return { id, status }
    },
  }
}

interface StoresOne {
  create(content: Content, idempotencyKey?: string): Promise<DocumentCreated>
  put(id: string, content: Content): Promise<DocumentCreated>
}

/** See `Documents.createAll`. */
export async function storeAll(
  items: DocumentBatch,
  { create, put }: StoresOne,
): Promise<DocumentBatchResult> {
  const storeItem = async ({ id, idempotencyKey, ...input }: DocumentBatch[number]) =>
    id === undefined ? create(input, idempotencyKey) : put(id, input)
  return resultsOf(items.map(storeItem))
}

/** The outcome of each, in order. Throws the first error if all fail. */
export async function resultsOf(
  stored: readonly Promise<DocumentCreated>[],
): Promise<DocumentBatchResult> {
  const settled = await Promise.allSettled(stored)
  const failures = settled.filter((outcome) => outcome.status === 'rejected')
  if (failures[0] && failures.length === settled.length) throw failures[0].reason
  return { results: settled.map(toResult) }
}

export type Admission = ReturnType<typeof createAdmission>

/**
 * Before a body is read, throws `queue_full` if the queue is full, or will be once `ahead` more documents are in it;
 * unless the document is already in it or its idempotency key was used before. The document store checks again: the
 * queue may have filled up in the meantime.
 */
export function createAdmission(
  store: Pick<DocumentStore, 'counts' | 'get' | 'hasKey'>,
  queueLimit: number,
) {
  return async (
    id: string | undefined,
    idempotencyKey: string | undefined,
    ahead = 0,
  ): Promise<void> => {
    const { jobs } = await store.counts()
    if (jobs + ahead < queueLimit) return
    if (idempotencyKey !== undefined && (await store.hasKey(idempotencyKey))) return
    const { status } = (id !== undefined && (await store.get(everything(), id))) || {}
    if (status !== 'pending' && status !== 'processing') throw queueFull()
  }
}

const digestOfText = (content: Content) => {
  const { text, title, url, conversation } = content
  const body = conversation === undefined ? [text] : [text, conversation]
  return digestOf(body, { title, url, metadata: shownMetadata(content), access: content.access })
}

/** Equal for content that would be stored as the same document; the order of metadata is ignored. */
export function digestOf(
  body: readonly string[],
  { title, url, metadata = {}, access }: Pick<NewDocument, 'title' | 'url' | 'metadata' | 'access'>,
): string {
  const facts = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = [...body, title, url, facts, ...(access ? [access] : [])]
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** Rethrows errors that clients must not see. */
function toResult(outcome: PromiseSettledResult<DocumentCreated>) {
  if (outcome.status === 'fulfilled') return outcome.value
  const { reason } = outcome
  if (!(reason instanceof AppError)) throw reason
  return { error: { code: reason.code, message: reason.message } }
}
