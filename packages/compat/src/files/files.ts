import { DEFAULT_COLLECTION, toPlace } from '@agent-server/lib/labels.ts'
import { movedTo, within } from '@agent-server/schemas/collection.ts'
import { type Document, DocumentStatus } from '@agent-server/schemas/document.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { collectionOf, storeOf, toFilter, toList, WHOLE_CORPUS } from '@agent-server/wire'
import type { Corpus, Documents, DocumentsQuery, Records } from '../services.ts'
import { createFileBatches } from './batches.ts'
import {
  type FileList,
  type FileListQuery,
  type FileObject,
  MAX_CONTENT,
  type NewVectorStore,
  type StoreFile,
  type StoreFileContent,
  type StoreFileInput,
  type StoreFileList,
  type StoreFileListQuery,
  type StoreSearch,
  type StoreSearchResults,
  type VectorStore,
  type VectorStoreUpdate,
} from './schema.ts'

type StoreDocuments = Pick<Documents, 'find' | 'get' | 'list' | 'patch' | 'text'>

interface Dependencies extends Pick<Corpus, 'retrieval' | 'collections'> {
  documents: StoreDocuments
  /** Keeps batches. */
  records: Records
  /** The id of the caller's key; undefined for the master key. */
  owner: string | undefined
}

export type FileSearch = ReturnType<typeof createFileSearch>

/** Documents of a collection that is renamed or deleted, read at once. */
const MOVED_AT_ONCE = 100

/** Offers documents, collections and `/query` as OpenAI's files and vector stores. */
export function createFileSearch(dependencies: Dependencies) {
  const { documents, retrieval, collections, records, owner } = dependencies
  const files = createStoreFiles(documents)
  const readStore = (id: string, signal: AbortSignal) => countStore(documents, id, signal)

  /** Throws `invalid_request` for the whole corpus, which always has all documents. */
  const emptied = async (
    store: string,
    takeOut: (id: string) => Promise<unknown>,
    signal: AbortSignal,
  ) => {
    const collection = collectionOf(store)
    if (collection === undefined) {
      throw refusal('store', 'contains all documents, and cannot be renamed or deleted')
    }
    const asked = { collection, limit: MOVED_AT_ONCE, sort: 'createdAt' } as const
    for (;;) {
      const { documents: listed } = await documents.list(asked, signal)
      if (listed.length === 0) break
      for (const { id } of listed) await takeOut(id)
    }
  }

  return {
    ...files,
    ...createAttachedFiles(documents, files.readFile),
    batches: createFileBatches({ files, records, owner }),
    readStore,
    async list(signal: AbortSignal) {
      const ids = [WHOLE_CORPUS, ...(await collections(signal)).map(storeOf)]
      const data: VectorStore[] = []
      for (const id of ids) data.push(await readStore(id, signal))
      return { object: 'list' as const, data, has_more: false as const }
    },
    /** A store exists as soon as it is named; nothing is stored for one without documents. */
    async create({ name, file_ids = [] }: NewVectorStore, signal: AbortSignal) {
      const store = storeOf(name)
      for (const file_id of file_ids) await files.attach(store, { file_id }, signal)
      return readStore(store, signal)
    },
    /** Moves all documents to the collection of the new name, which is refused if it has documents already. */
    async rename(
      store: string,
      { name }: VectorStoreUpdate,
      signal: AbortSignal,
    ): Promise<VectorStore> {
      const renamed = name === undefined ? store : storeOf(name)
      if (renamed === store) return readStore(store, signal)
      const { file_counts } = await readStore(renamed, signal)
      if (file_counts.total > 0) throw refusal('name', 'is that of a store with documents already')
      await emptied(store, (file_id) => files.attach(renamed, { file_id }, signal), signal)
      return readStore(renamed, signal)
    },
    /** Removes all documents from a collection; they stay in the corpus. */
    async remove(store: string, signal: AbortSignal) {
      await emptied(store, (id) => files.detach(store, id, signal), signal)
      return { id: store, object: 'vector_store.deleted', deleted: true as const }
    },
    async search(
      store: string,
      { query, max_num_results: topK, filters, ranking_options }: StoreSearch,
      signal: AbortSignal,
    ): Promise<StoreSearchResults> {
      const text = [query].flat()[0] ?? ''
      const filter = within({
        filter: filters ? toFilter(filters, 'filters') : undefined,
        collection: collectionOf(store),
      })
      const minScore = ranking_options?.score_threshold ?? undefined
      const search = { query: text, topK, minScore, filter }
      const { hits } = await retrieval.search(search, signal)
      return {
        object: 'vector_store.search_results.page',
        search_query: [text],
        data: hits.map(toResult),
        has_more: false,
        next_page: null,
      }
    },
  }
}

function toResult({ documentId, title, score, metadata, text, start, end }: Hit) {
  return {
    file_id: documentId,
    filename: title || documentId,
    score,
    start,
    end,
    attributes: metadata ?? {},
    content: [{ type: 'text' as const, text }],
  }
}

async function countStore(
  documents: Pick<Documents, 'list'>,
  id: string,
  signal: AbortSignal,
): Promise<VectorStore> {
  const collection = collectionOf(id)
  const count = (status?: Document['status']) =>
    documents.list({ limit: 1, sort: 'createdAt', total: true, collection, status }, signal)
  const [all, ready, failed] = await Promise.all([count(), count('ready'), count('failed')])
  const { total = 0 } = all
  const counts = { completed: ready.total ?? 0, failed: failed.total ?? 0 }
  const in_progress = Math.max(total - counts.completed - counts.failed, 0)
  return {
    id,
    object: 'vector_store',
    name: collection ?? WHOLE_CORPUS,
    metadata: {},
    created_at: secondsOf(all.documents[0]?.createdAt ?? Date.now()),
    last_active_at: null,
    usage_bytes: 0,
    status: in_progress > 0 ? 'in_progress' : 'completed',
    file_counts: { ...counts, in_progress, cancelled: 0, total },
  }
}

/** The `purpose` of every file. */
const PURPOSE = 'assistants'

interface Page extends Pick<DocumentsQuery, 'after' | 'collection' | 'limit' | 'status'> {
  order: 'asc' | 'desc'
}

/** Documents as files and as files of a store. Unless stated otherwise, throws `document_not_found`. */
function createStoreFiles(documents: StoreDocuments) {
  const fileIn = (store: string, document: Document): StoreFile | undefined => {
    const wanted = collectionOf(store)
    const { collection = DEFAULT_COLLECTION } = toPlace(document.metadata)
    return wanted === undefined || wanted === collection ? toStoreFile(store, document) : undefined
  }

  /** Throws `invalid_request` if the file is not in the store. */
  const readFile = async (store: string, id: string): Promise<StoreFile> => {
    const file = fileIn(store, await documents.get(id))
    if (!file) throw refusal('id', `is not in the store "${store}"`)
    return file
  }

  /** Throws `document_not_found` if the document `after` no longer exists. */
  const page = async (
    { order, ...query }: Page,
    signal: AbortSignal,
  ): Promise<{ listed: Document[]; has_more: boolean }> => {
    const after = query.after === undefined ? undefined : (await documents.get(query.after)).id
    const sort = order === 'asc' ? 'createdAt' : '-createdAt'
    const asked = { ...query, after, sort } as const
    const { documents: listed, nextCursor } = await documents.list(asked, signal)
    return { listed, has_more: nextCursor !== undefined }
  }

  return {
    file: async (id: string): Promise<FileObject> => toFile(await documents.get(id)),
    readFile,
    /** Returns undefined if the document does not exist or is not in the store. */
    async findFile(store: string, id: string): Promise<StoreFile | undefined> {
      const document = await documents.find(id)
      return document && fileIn(store, document)
    },
    async listFiles(
      { purpose = PURPOSE, ...query }: FileListQuery,
      signal: AbortSignal,
    ): Promise<FileList> {
      if (purpose !== PURPOSE) return toList([], false)
      const { listed, has_more } = await page(query, signal)
      return toList(listed.map(toFile), has_more)
    },
    async listStoreFiles(
      store: string,
      { filter, ...query }: StoreFileListQuery,
      signal: AbortSignal,
    ): Promise<StoreFileList> {
      if (filter === 'cancelled') return toList([], false)
      const status = filter && DocumentStatus.options.filter((one) => STATUS[one] === filter)
      const asked = { ...query, status, collection: collectionOf(store) }
      const { listed, has_more } = await page(asked, signal)
      const files = listed.map((document) => toStoreFile(store, document))
      return toList(files, has_more)
    },
    async attach(
      store: string,
      { file_id, attributes = {} }: StoreFileInput,
      signal: AbortSignal,
    ): Promise<StoreFile> {
      const collection = collectionOf(store)
      const metadata = { ...attributes, ...(collection !== undefined && movedTo(collection)) }
      return toStoreFile(store, await documents.patch(file_id, { metadata }, signal))
    },
    /**
     * Removes a document from its collection; it stays in the corpus. Throws `invalid_request` if the store is the
     * whole corpus or does not have the document.
     */
    async detach(store: string, id: string, signal: AbortSignal) {
      if (collectionOf(store) === undefined) {
        throw refusal(
          'store',
          `contains all documents; use DELETE /v1/files/${id} to delete this one`,
        )
      }
      await readFile(store, id)
      await documents.patch(id, { metadata: movedTo(DEFAULT_COLLECTION) }, signal)
      return { id, object: 'vector_store.file.deleted', deleted: true as const }
    },
  }
}

/** What can be read and changed of a file within its store. */
function createAttachedFiles(
  documents: StoreDocuments,
  readFile: (store: string, id: string) => Promise<StoreFile>,
) {
  return {
    /** Throws `invalid_request` if the file is not in the store. */
    async update(
      store: string,
      id: string,
      attributes: Metadata,
      signal: AbortSignal,
    ): Promise<StoreFile> {
      await readFile(store, id)
      return toStoreFile(store, await documents.patch(id, { metadata: attributes }, signal))
    },
    /** A page of a file's text, from an offset. Throws `invalid_request` if the file is not in the store. */
    async content(
      store: string,
      id: string,
      start: number,
      signal: AbortSignal,
    ): Promise<StoreFileContent> {
      await readFile(store, id)
      const end = start + MAX_CONTENT
      const { text, length } = await documents.text(id, { start, end }, signal)
      const has_more = end < length
      return {
        object: 'vector_store.file_content.page',
        data: [{ type: 'text', text }],
        has_more,
        next_page: has_more ? String(end) : null,
      }
    },
  }
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

const secondsOf = (time: string | number) => Math.floor(new Date(time).getTime() / 1_000)
