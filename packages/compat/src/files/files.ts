import { DEFAULT_COLLECTION, toPlace } from '@agent-server/lib/labels.ts'
import { movedTo } from '@agent-server/schemas/collection.ts'
import { type Document, DocumentStatus } from '@agent-server/schemas/document.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import { collectionOf, toList } from '@agent-server/wire'
import type { Documents, DocumentsQuery, SharedCollections } from '../services.ts'
import {
  type FileList,
  type FileListQuery,
  type FileObject,
  MAX_CONTENT,
  type StoreFile,
  type StoreFileContent,
  type StoreFileInput,
  type StoreFileList,
  type StoreFileListQuery,
} from './schema.ts'

type StoreDocuments = Pick<Documents, 'find' | 'get' | 'list' | 'patch' | 'text'>

/** The `purpose` of every file. */
const PURPOSE = 'assistants'

interface Page extends Pick<DocumentsQuery, 'after' | 'collection' | 'limit' | 'status'> {
  order: 'asc' | 'desc'
}

/** Documents as files and as files of a store. Unless stated otherwise, throws `document_not_found`. */
export class StoreFiles {
  readonly #documents: StoreDocuments
  readonly #shared: Pick<SharedCollections, 'readersOutside'>

  constructor(documents: StoreDocuments, shared: Pick<SharedCollections, 'readersOutside'>) {
    this.#documents = documents
    this.#shared = shared
  }

  async file(id: string): Promise<FileObject> {
    return toFile(await this.#documents.get(id))
  }

  /** Throws `invalid_request` if the file is not in the store. */
  async readFile(store: string, id: string): Promise<StoreFile> {
    const file = fileIn(store, await this.#documents.get(id))
    if (!file) throw refusal('id', `is not in the store "${store}"`)
    return file
  }

  /** Returns undefined if the document does not exist or is not in the store. */
  async findFile(store: string, id: string): Promise<StoreFile | undefined> {
    const document = await this.#documents.find(id)
    return document && fileIn(store, document)
  }

  async listFiles(
    { purpose = PURPOSE, ...query }: FileListQuery,
    signal: AbortSignal,
  ): Promise<FileList> {
    if (purpose !== PURPOSE) return toList([], false)
    const { documents, hasMore } = await this.#page(query, signal)
    return toList(documents.map(toFile), hasMore)
  }

  async listStoreFiles(
    store: string,
    { filter, ...query }: StoreFileListQuery,
    signal: AbortSignal,
  ): Promise<StoreFileList> {
    if (filter === 'cancelled') return toList([], false)
    const status = filter && DocumentStatus.options.filter((one) => STATUS[one] === filter)
    const inStore = { ...query, status, collection: collectionOf(store) }
    const { documents, hasMore } = await this.#page(inStore, signal)
    const files = documents.map((document) => toStoreFile(store, document))
    return toList(files, hasMore)
  }

  async attach(
    store: string,
    { file_id, attributes = {} }: StoreFileInput,
    signal: AbortSignal,
  ): Promise<StoreFile> {
    const collection = collectionOf(store)
    const metadata = { ...attributes, ...(collection !== undefined && movedTo(collection)) }
    return toStoreFile(store, await this.#documents.patch(file_id, { metadata }, signal))
  }

  /**
   * Removes a document from its collection; it stays in the corpus. Throws `invalid_request` if the store is the whole
   * corpus or does not have the document.
   */
  async detach(store: string, id: string, signal: AbortSignal) {
    const collection = collectionOf(store)
    if (collection === undefined) {
      throw refusal(
        'store',
        `contains all documents; use DELETE /v1/files/${id} to delete this one`,
      )
    }
    await this.readFile(store, id)
    const readers = await this.#shared.readersOutside(collection)
    await this.takeOut(collection, await this.#documents.get(id), readers, signal)
    return { id, object: 'vector_store.file.deleted', deleted: true as const }
  }

  /** Moves a document to the default collection, where nobody may read it but its readers before. */
  async takeOut(
    collection: string,
    document: Document,
    readers: string[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const keepsReaders = document.access !== undefined || collection === DEFAULT_COLLECTION
    const access = keepsReaders ? undefined : readers
    const change = { metadata: movedTo(DEFAULT_COLLECTION), access }
    await this.#documents.patch(document.id, change, signal)
  }

  /** Throws `invalid_request` if the file is not in the store. */
  async update(
    store: string,
    id: string,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<StoreFile> {
    await this.readFile(store, id)
    return toStoreFile(store, await this.#documents.patch(id, { metadata }, signal))
  }

  /** A page of a file's text, from an offset. Throws `invalid_request` if the file is not in the store. */
  async content(
    store: string,
    id: string,
    start: number,
    signal: AbortSignal,
  ): Promise<StoreFileContent> {
    await this.readFile(store, id)
    const end = start + MAX_CONTENT
    const { text, length } = await this.#documents.text(id, { start, end }, signal)
    const has_more = end < length
    return {
      object: 'vector_store.file_content.page',
      data: [{ type: 'text', text }],
      has_more,
      next_page: has_more ? String(end) : null,
    }
  }

  /** Throws `document_not_found` if the document `after` no longer exists. */
  async #page({ order, ...query }: Page, signal: AbortSignal) {
    const after =
      query.after === undefined ? undefined : (await this.#documents.get(query.after)).id
    const sort = order === 'asc' ? 'createdAt' : '-createdAt'
    const { documents, nextCursor } = await this.#documents.list({ ...query, after, sort }, signal)
    return { documents, hasMore: nextCursor !== undefined }
  }
}

function fileIn(store: string, document: Document): StoreFile | undefined {
  const required = collectionOf(store)
  const { collection = DEFAULT_COLLECTION } = toPlace(document.metadata)
  return required === undefined || required === collection
    ? toStoreFile(store, document)
    : undefined
}

function toStoreFile(store: string, document: Document): StoreFile {
  const { id, createdAt, metadata = {}, error } = document
  const status = STATUS[document.status]
  return {
    id,
    object: 'vector_store.file',
    created_at: secondsOf(createdAt),
    vector_store_id: store,
    status,
    last_error: status === 'failed' && error ? error : null,
    usage_bytes: sizeOf(document),
    attributes: metadata,
  }
}

const STATUS = {
  pending: 'in_progress',
  processing: 'in_progress',
  ready: 'completed',
  failed: 'failed',
} as const

function toFile(document: Document): FileObject {
  const { id, title, file, createdAt, error } = document
  const status = { in_progress: 'uploaded', completed: 'processed', failed: 'error' } as const
  return {
    id,
    object: 'file',
    bytes: sizeOf(document),
    created_at: secondsOf(createdAt),
    filename: file?.name ?? title ?? id,
    purpose: PURPOSE,
    status: status[STATUS[document.status]],
    ...(error && { status_details: error.message }),
  }
}

/** In bytes for a file, otherwise in UTF-16 code units. */
const sizeOf = ({ file, characters }: Document) => file?.size ?? characters

export const secondsOf = (time: string | number) => Math.floor(new Date(time).getTime() / 1_000)
