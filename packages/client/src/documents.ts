import { type Call, mapCall, Pages, readText } from './call.ts'
import type {
  Chunk,
  ChunkList,
  Collection,
  CollectionList,
  CollectionPatch,
  CreateCollection,
  CreateDocument,
  CreateDocumentItem,
  CreateSite,
  Deletion,
  Document,
  DocumentBatchResult,
  DocumentCreated,
  DocumentList,
  DocumentPatch,
  DocumentSort,
  DocumentStatus,
  ErrorDetail,
  Filter,
  SiteLine,
} from './contract.ts'
import { pause } from './deadline.ts'
import { IngestionError, TimeoutError, toError } from './errors.ts'
import { randomKey } from './retry.ts'
import { readLines } from './streams.ts'
import type { Request, RequestOptions, Transport } from './transport.ts'
import {
  formOfFiles,
  prepareUpload,
  type SmallFile,
  type UploadFields,
  type UploadSource,
} from './upload.ts'

const FIRST_POLL_MS = 100
const MAX_POLL_MS = 2_000
const READY_MS = 600_000

export interface CreateOptions extends RequestOptions {
  /** Seconds, at most 60, that the server delays its response until the document is `ready` or `failed`. */
  wait?: number | undefined
  /** Two calls with the same key create one document. Default: a new key for each call. */
  idempotencyKey?: string | undefined
}

export interface UploadOptions extends CreateOptions, UploadFields {
  /** An id of your own: replaces the document that has it. */
  id?: string | undefined
}

interface PageOptions extends RequestOptions {
  /** Items per page, 1 to 100. Default: 100. */
  limit?: number | undefined
}

/** Selects documents; every condition given must hold. */
export interface DocumentSelection {
  status?: DocumentStatus | undefined
  /** A part of the title, in upper or lower case. */
  title?: string | undefined
  /** Media type of the file, such as `application/pdf` or `image/*`. */
  mediaType?: string | undefined
  /** Digest of the file, in hexadecimal. */
  sha256?: string | undefined
  /** A filter on the metadata. */
  filter?: Filter | undefined
  /** Only documents of this collection. */
  collection?: string | undefined
}

export interface ListOptions extends PageOptions, DocumentSelection {
  /** Only the documents of this conversation. Default: those of none. */
  conversation?: string | undefined
  /** Default: `-createdAt`, newest first. */
  sort?: DocumentSort | undefined
  /** Also counts the items of all pages, as `total` of each page. */
  total?: boolean | undefined
}

export interface TextOptions extends RequestOptions {
  /** Offsets in UTF-16 code units from the beginning of the text. */
  start?: number | undefined
  end?: number | undefined
}

export interface DeleteOptions extends RequestOptions, DocumentSelection {
  dryRun?: boolean | undefined
  confirm?: number | undefined
}

export interface WaitOptions extends RequestOptions {
  /** Milliseconds until a `TimeoutError`. Default: ten minutes. */
  maxWait?: number | undefined
}

/** The documents of the server. */
export class Documents {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Adds a text, or the page at a web address, as a new document. When this resolves the document is durable; it can be
   * found once it is `ready`.
   */
  create(document: CreateDocument, options: CreateOptions = {}): Call<DocumentCreated> {
    const { wait, idempotencyKey } = options
    const request: Request = { method: 'POST', path: '/documents', json: document }
    return this.#transport.json({ ...request, query: { wait }, idempotencyKey }, options)
  }

  /**
   * Uploads a file as a new document, or, with `id`, in place of an existing one: a path, a `File` or `Blob`, a
   * stream or bytes. The file is streamed where the platform allows it, not held in memory. A stream can be read
   * only once, so its upload is never retried.
   */
  upload(source: UploadSource, options: UploadOptions = {}): Call<DocumentCreated> {
    const { id, wait, idempotencyKey } = options
    const { body, isRepeatable } = prepareUpload(source, options)
    const request = { body, isRepeatable, query: { wait } }
    return id === undefined
      ? this.#transport.json(
          { ...request, method: 'POST', path: '/documents', idempotencyKey },
          options,
        )
      : this.#transport.json({ ...request, method: 'PUT', path: pathOf(id) }, options)
  }

  /**
   * Adds up to 1,000 texts at once; resolves with a result for each, in order. Those without an `id` get an
   * `idempotencyKey`, so that a retry adds none twice.
   */
  batch(
    documents: readonly CreateDocumentItem[],
    options: RequestOptions = {},
  ): Call<DocumentBatchResult['results']> {
    const key = randomKey()
    const json = documents.map((document, index) =>
      document.id || document.idempotencyKey
        ? document
        : { ...document, idempotencyKey: `${key}-${index}` },
    )
    const request: Request = { method: 'POST', path: '/documents/batch', json }
    const answer = this.#transport.json<DocumentBatchResult>(request, options)
    return mapCall(answer, ({ results }) => results)
  }

  /**
   * Uploads up to 100 small files at once, each of at most 1 MB and 20 MB in all; resolves with a result for each, in
   * order. Those without an `idempotencyKey` get one, so that a retry adds none twice.
   */
  uploadBatch(
    files: readonly SmallFile[],
    options: RequestOptions = {},
  ): Call<DocumentBatchResult['results']> {
    const key = randomKey()
    const keyed = files.map((one, index) => ({
      ...one,
      idempotencyKey: one.idempotencyKey ?? `${key}-${index}`,
    }))
    const body = () => ({ content: formOfFiles(keyed), headers: {} })
    const request: Request = { method: 'POST', path: '/documents/batch', body }
    const answer = this.#transport.json<DocumentBatchResult>(request, options)
    return mapCall(answer, ({ results }) => results)
  }

  /**
   * Replaces the document with this id, which you choose, or adds it. Queries find the old content until the new one
   * is ready.
   */
  replace(
    id: string,
    document: CreateDocument,
    options: Omit<CreateOptions, 'idempotencyKey'> = {},
  ): Call<DocumentCreated> {
    const query = { wait: options.wait }
    return this.#transport.json({ method: 'PUT', path: pathOf(id), query, json: document }, options)
  }

  /** Lists documents; by default all of them, newest first. */
  list({ conversation, limit, sort, total, ...filters }: ListOptions = {}): Pages<Document> {
    const { query: selection, options } = readSelection(filters)
    return new Pages((cursor) => {
      const totalFlag = total ? 'true' : undefined
      const page = { limit: limit ?? 100, cursor, sort, total: totalFlag }
      const query = { ...selection, ...page, conversation }
      const request: Request = { method: 'GET', path: '/documents', query }
      return mapCall(
        this.#transport.json<DocumentList>(request, options),
        ({ documents, nextCursor, total }) => ({ items: documents, nextCursor, total }),
      )
    })
  }

  /** Lists the collections that you may see, `default` first. */
  collections(options?: RequestOptions): Call<CollectionList['collections']> {
    const request: Request = { method: 'GET', path: '/collections' }
    return mapCall(
      this.#transport.json<CollectionList>(request, options),
      ({ collections }) => collections,
    )
  }

  /** Reads one of them. Throws `NotFoundError`. */
  collection(name: string, options?: RequestOptions): Call<Collection> {
    return this.#transport.json({ method: 'GET', path: pathOfCollection(name) }, options)
  }

  /** Makes a collection that people share. Throws `ConflictError` if the name is taken. */
  createCollection(collection: CreateCollection, options?: RequestOptions): Call<Collection> {
    return this.#transport.json({ method: 'POST', path: '/collections', json: collection }, options)
  }

  /** Changes who may do what in a collection: each list given replaces the present one. Throws `NotFoundError`. */
  patchCollection(
    name: string,
    patch: CollectionPatch,
    options?: RequestOptions,
  ): Call<Collection> {
    const request: Request = { method: 'PATCH', path: pathOfCollection(name), json: patch }
    return this.#transport.json(request, options)
  }

  /** Deletes a collection without documents. Throws `ConflictError` if it has some. */
  deleteCollection(name: string, options?: RequestOptions): Call<void> {
    return this.#transport.json({ method: 'DELETE', path: pathOfCollection(name) }, options)
  }

  /** Reads the document's state and metadata. Throws `NotFoundError`. */
  get(id: string, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'GET', path: pathOf(id) }, options)
  }

  /** Lists the chunks that the document was split into, in text order. */
  chunks(id: string, { limit, ...options }: PageOptions = {}): Pages<Chunk> {
    return new Pages((cursor) => {
      const query = { limit: limit ?? 100, cursor }
      const request: Request = { method: 'GET', path: `${pathOf(id)}/chunks`, query }
      return mapCall(
        this.#transport.json<ChunkList>(request, options),
        ({ chunks, nextCursor }) => ({ items: chunks, nextCursor }),
      )
    })
  }

  /** Downloads the file that the document was sent as; the body of the response is still to be read. */
  file(id: string, options?: RequestOptions): Call<Response> {
    const request: Request = { method: 'GET', path: `${pathOf(id)}/file`, accept: '*/*' }
    return this.#transport.stream(request, options)
  }

  /**
   * Reads the text of the document, or the part between the `start` and `end` of a hit. Throws `ConflictError` if it
   * has none yet.
   */
  text(id: string, { start, end, ...options }: TextOptions = {}): Call<string> {
    const request = { path: `${pathOf(id)}/text`, query: { start, end }, accept: 'text/plain' }
    return readText(this.#transport.stream({ method: 'GET', ...request }, options))
  }

  /**
   * Changes metadata, where null removes a field and fields not named stay, or the title, for which the content is
   * ingested again. With `expected`, throws `ConflictError` and changes nothing if it is no longer so.
   */
  patch(id: string, patch: DocumentPatch, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'PATCH', path: pathOf(id), json: patch }, options)
  }

  /**
   * Deletes all documents of a selection. With `dryRun` it only counts them; otherwise `confirm` must be their
   * number, or it throws `ConflictError` and deletes nothing.
   */
  deleteAll(deletion: DeleteOptions): Call<Deletion> {
    const { confirm, dryRun, ...rest } = deletion
    const { query, options } = readSelection(rest)
    const path = '/documents'
    const all = { ...query, confirm, dryRun: dryRun ? 'true' : undefined }
    return this.#transport.json({ method: 'DELETE', path, query: all }, options)
  }

  /**
   * Deletes a document; the very next query no longer finds it. Throws `NotFoundError`, except on a retry, when the
   * first attempt may have deleted it.
   */
  delete(id: string, options?: RequestOptions): Call<void> {
    return this.#transport.json({ method: 'DELETE', path: pathOf(id) }, options)
  }

  /** Ingests a failed document again. Throws `ConflictError` if it has not failed. */
  retry(id: string, options?: RequestOptions): Call<DocumentCreated> {
    return this.#transport.json({ method: 'POST', path: `${pathOf(id)}/retry` }, options)
  }

  /** Fetches a document again from its web address; `revision` grows if the content has changed. */
  refresh(id: string, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'POST', path: `${pathOf(id)}/refresh` }, options)
  }

  /**
   * Adds the pages that a sitemap lists: yields how many there are, then the result of each. Sent again, it adds new
   * pages and refreshes the others. The request is sent when a loop starts to read.
   */
  async *addSite(site: CreateSite, options?: RequestOptions): AsyncGenerator<SiteLine> {
    const request: Request = { method: 'POST', path: '/documents/sitemap', json: site }
    const { body } = await this.#transport.stream({ ...request, accept: '*/*' }, options)
    if (!body) return
    for await (const text of readLines(body)) {
      const line: SiteLine | { error: ErrorDetail } = JSON.parse(text)
      if ('page' in line || 'pages' in line) yield line
      else throw toError(line.error)
    }
  }

  /**
   * Resolves with the document once it is ready. Throws `IngestionError` if it fails, `TimeoutError` when the wait
   * is over.
   */
  async waitUntilReady(id: string, options: WaitOptions = {}): Promise<Document> {
    const { maxWait = READY_MS, ...each } = options
    const deadline = performance.now() + maxWait
    for (let milliseconds = FIRST_POLL_MS; ; milliseconds *= 2) {
      const document = await this.get(id, each)
      const { status, error } = document
      if (status === 'ready') return document
      if (status === 'failed') {
        throw new IngestionError(error?.message ?? 'Ingestion failed', id, error?.code)
      }
      const remaining = deadline - performance.now()
      if (remaining <= 0) throw new TimeoutError(`${id} is still ${status}`, { code: error?.code })
      await pause(Math.min(milliseconds, MAX_POLL_MS, remaining), options.signal)
    }
  }
}

function readSelection<Selection extends DocumentSelection>(selection: Selection) {
  const { status, title, mediaType, sha256, filter, collection, ...options } = selection
  return {
    query: {
      status,
      title,
      mediaType,
      sha256,
      collection,
      filter: filter && JSON.stringify(filter),
    },
    options,
  }
}

const pathOfCollection = (name: string) => `/collections/${encodeURIComponent(name)}`

function pathOf(id: string): string {
  return `/documents/${encodeURIComponent(id)}`
}
