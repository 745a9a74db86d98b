import { type Call, mapCall, Pages } from './call.ts'
import type {
  Chunk,
  ChunkList,
  Deletion,
  Document,
  DocumentBatchResult,
  DocumentCreated,
  DocumentList,
  DocumentPatch,
  DocumentSort,
  DocumentStatus,
  Filter,
  NewDocument,
  NewDocumentItem,
} from './contract.ts'
import { pause } from './deadline.ts'
import { IngestionError, TimeoutError } from './errors.ts'
import { randomKey } from './retry.ts'
import type { Request, RequestOptions, Transport } from './transport.ts'
import { prepareUpload, type UploadFields, type UploadSource } from './upload.ts'

const FIRST_POLL_MS = 100
const MAX_POLL_MS = 2_000
const READY_MS = 600_000

export interface CreateOptions extends RequestOptions {
  /** Seconds, at most 60, that the server holds the answer back until the document is `ready` or `failed`. */
  wait?: number | undefined
  /** Two calls with one key make one document; by itself each call has a key of its own. */
  idempotencyKey?: string | undefined
}

export interface UploadOptions extends CreateOptions, UploadFields {
  /** An id of the caller's own: replaces the document that has it. */
  id?: string | undefined
}

interface PageOptions extends RequestOptions {
  /** Items of a page, 1 to 100. */
  limit?: number | undefined
}

/** Which documents; what is given must hold of them. */
export interface DocumentSelection {
  status?: DocumentStatus | undefined
  /** Stands in the title, whatever its case. */
  title?: string | undefined
  /** On the metadata. */
  filter?: Filter | undefined
  /** Of this collection. */
  collection?: string | undefined
}

export interface ListOptions extends PageOptions, DocumentSelection {
  /** `-createdAt`, newest first, by itself. */
  sort?: DocumentSort | undefined
  /** Also counts those of all pages, into `total` of a page. */
  total?: boolean | undefined
}

export interface TextOptions extends RequestOptions {
  /** UTF-16 code units from the beginning of the text. */
  start?: number | undefined
  end?: number | undefined
}

export interface DeleteOptions extends RequestOptions, DocumentSelection {
  dryRun?: boolean | undefined
  confirm?: number | undefined
}

export interface WaitOptions extends RequestOptions {
  /** Milliseconds until a `TimeoutError`; ten minutes by itself. */
  maxWait?: number | undefined
}

/** The documents of the server. */
export class Documents {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Adds a text, or what is at a web address, as a new document. It is durable when this resolves, and found once it is `ready`. */
  create(document: NewDocument, options: CreateOptions = {}): Call<DocumentCreated> {
    const { wait, idempotencyKey } = options
    const request: Request = { method: 'POST', path: '/documents', json: document }
    return this.#transport.json({ ...request, query: { wait }, idempotencyKey }, options)
  }

  /**
   * Adds a file as a new document, or under `id` in the place of another, and never holds it whole in memory:
   * a path, a `File` or `Blob`, a stream or bytes. A stream cannot be sent again, so it is tried once.
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
   * Adds up to 1,000 texts at once; answers a result for each, in their order. Those without an `id` get an
   * `idempotencyKey`, so that a repeated request adds none twice.
   */
  batch(
    documents: readonly NewDocumentItem[],
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

  /** Replaces the document with an id of the caller's own, or adds it. Queries find the old content until the new is ready. */
  replace(id: string, document: NewDocument, options: CreateOptions = {}): Call<DocumentCreated> {
    const query = { wait: options.wait }
    return this.#transport.json({ method: 'PUT', path: pathOf(id), query, json: document }, options)
  }

  /** The documents, all of them by itself, newest first. */
  list({ limit, sort, total, ...given }: ListOptions = {}): Pages<Document> {
    const { query: selection, options } = readSelection(given)
    return new Pages((cursor) => {
      const counted = total ? 'true' : undefined
      const query = { ...selection, limit: limit ?? 100, cursor, sort, total: counted }
      const request: Request = { method: 'GET', path: '/documents', query }
      return mapCall(
        this.#transport.json<DocumentList>(request, options),
        ({ documents, nextCursor, total }) => ({ items: documents, nextCursor, total }),
      )
    })
  }

  get(id: string, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'GET', path: pathOf(id) }, options)
  }

  /** The passages that the document was split into, in the order of the text. */
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

  /** The file that the document was sent as; its body is still to be read. */
  file(id: string, options?: RequestOptions): Call<Response> {
    const request: Request = { method: 'GET', path: `${pathOf(id)}/file`, accept: '*/*' }
    return this.#transport.stream(request, options)
  }

  /** The text of the document, or the part of it that `start` and `end` of a hit name. */
  async text(id: string, { start, end, ...options }: TextOptions = {}): Promise<string> {
    const request = { path: `${pathOf(id)}/text`, query: { start, end }, accept: 'text/plain' }
    const response = await this.#transport.stream({ method: 'GET', ...request }, options)
    return response.text()
  }

  /** Changes metadata without ingesting the document again: null takes a field out, what is not named stays. */
  patch(id: string, patch: DocumentPatch, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'PATCH', path: pathOf(id), json: patch }, options)
  }

  /**
   * Deletes all documents that a selection takes. With `dryRun` it only counts them; without, `confirm` must be their
   * number, or it throws `ConflictError` and nothing is deleted.
   */
  deleteAll(given: DeleteOptions): Call<Deletion> {
    const { confirm, dryRun, ...rest } = given
    const { query, options } = readSelection(rest)
    const path = '/documents'
    const all = { ...query, confirm, dryRun: dryRun ? 'true' : undefined }
    return this.#transport.json({ method: 'DELETE', path, query: all }, options)
  }

  /** The very next query no longer finds it. Throws `NotFoundError`, but not where a lost answer had deleted it. */
  delete(id: string, options?: RequestOptions): Call<void> {
    return this.#transport.json({ method: 'DELETE', path: pathOf(id) }, options)
  }

  /** Ingests a failed document again. Throws `ConflictError` where it has not failed. */
  retry(id: string, options?: RequestOptions): Call<DocumentCreated> {
    return this.#transport.json({ method: 'POST', path: `${pathOf(id)}/retry` }, options)
  }

  /** Fetches a document again from the web address that it came from; `revision` grows where that has changed. */
  refresh(id: string, options?: RequestOptions): Call<Document> {
    return this.#transport.json({ method: 'POST', path: `${pathOf(id)}/refresh` }, options)
  }

  /** The document once it is ready. Throws `IngestionError` if it fails, `TimeoutError` when the wait is over. */
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
      const left = deadline - performance.now()
      if (left <= 0) throw new TimeoutError(`${id} is still ${status}`, { code: error?.code })
      await pause(Math.min(milliseconds, MAX_POLL_MS, left), options.signal)
    }
  }
}

function readSelection<Given extends DocumentSelection>(given: Given) {
  const { status, title, filter, collection, ...options } = given
  return {
    query: { status, title, collection, filter: filter && JSON.stringify(filter) },
    options,
  }
}

function pathOf(id: string): string {
  return `/documents/${encodeURIComponent(id)}`
}
