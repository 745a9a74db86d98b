import type { Owner } from '@agent-server/lib/limiter.ts'
import type {
  Document,
  DocumentCreated,
  DocumentList,
  DocumentPatch,
  DocumentSort,
  TextQuery,
} from '@agent-server/schemas/document.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { FormPart } from '@agent-server/schemas/new-document.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'

// What these protocols use of the server, whose own parts fit as they are.

export interface DocumentsQuery {
  limit: number
  sort?: DocumentSort | undefined
  cursor?: string | undefined
  /** Sorted by age, the page begins after this document. */
  after?: string | undefined
  collection?: string | undefined
  filter?: Filter | undefined
  status?: Document['status'] | readonly Document['status'][] | undefined
  /** Whether to count all matching documents too. */
  total?: boolean | undefined
}

/** The documents that a caller sees. What names one throws `document_not_found`, but for `find`. */
export interface Documents {
  find(id: string): Promise<Document | undefined>
  get(id: string): Promise<Document>
  list(query: DocumentsQuery, signal?: AbortSignal): Promise<DocumentList>
  patch(id: string, change: DocumentPatch, signal: AbortSignal): Promise<Document>
  remove(id: string): Promise<void>
  text(id: string, range: TextQuery, signal: AbortSignal): Promise<{ text: string; length: number }>
  openText(id: string, range: TextQuery, signal: AbortSignal): Promise<Sized & Readable>
}

interface Sized {
  /** In bytes. */
  size: number
}

interface Readable {
  read(first: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** Documents that are files, as they are sent in a form. */
export interface Files {
  create(parts: AsyncIterable<FormPart>): Promise<DocumentCreated>
  put(id: string, parts: AsyncIterable<FormPart>): Promise<DocumentCreated>
  read(
    id: string,
  ): Promise<Sized & { name: string; mediaType: string; pieces: AsyncIterable<Uint8Array> }>
}

interface Search {
  query: string
  topK: number
  minScore?: number | undefined
  filter?: Filter | undefined
}

/** Collections as people share them; nothing of it concerns API keys. */
export interface SharedCollections {
  /** The names that a person may see; undefined for whoever rights do not concern. */
  names(signal: AbortSignal): Promise<ReadonlySet<string> | undefined>
  /** Throws `collection_not_found`, and `not_permitted`, for a person who does not own it. */
  requireOwner(name: string, signal: AbortSignal): Promise<void>
  /** Makes a person the owner of a new collection. Returns whether the caller may add documents to it. */
  claim(name: string): Promise<boolean>
  /** Ends that a person owns a collection; the caller is one of its owners. */
  release(name: string): Promise<void>
  /** Who may read a document without `access` that is taken out of this collection; undefined for whoever reads the default one. */
  readersOutside(name: string): Promise<string[] | undefined>
}

export interface Corpus {
  documents: Documents
  files: Files
  retrieval: { search(query: Search, signal: AbortSignal): Promise<{ hits: Hit[] }> }
  shared: SharedCollections
  /** Names of all collections; throws the abort reason of `signal`. */
  collections(signal: AbortSignal): Promise<string[]>
}

export interface CorpusServices {
  /** The corpus as a caller may see and change it. */
  corpusFor: (caller: Caller) => Corpus
  /** The largest file accepted, in bytes. */
  maxFileBytes: number
  /** Throws `queue_full` if a document cannot be queued after `ahead` others. */
  admission: (id: string | undefined, key: string | undefined, ahead?: number) => Promise<void>
}

/** Keeps records for a while, each for the key that it was made for. */
export interface Records {
  add(record: {
    id: string
    name: string
    mediaType: string
    bytes: Uint8Array
    owner: string | undefined
  }): Promise<{ id: string }>
  read(id: string, owner: string | undefined): Promise<{ bytes: Uint8Array } | undefined>
}

/** What clients call collections, where that is another name than the collection's own. */
export interface CollectionNames {
  list(): Promise<ReadonlyMap<string, string>>
  /** Undefined forgets the name. Throws `invalid_request` if there are too many. */
  set(collection: string, name: string | undefined, owner: Owner): Promise<void>
}

/** The models as clients see them. */
export interface Description {
  capabilities(): Promise<{
    chat: { tools: boolean; window: number }
    embedder: { state: string }
  }>
}

/** The model that embeds documents. Throws `EmbedderError`. */
export interface Embedding {
  readonly model: string
  documents(
    chunks: readonly { title: string; heading: string; text: string }[],
    signal: AbortSignal,
    sender: Owner,
  ): Promise<{ model: string; dimension: number; values: Float32Array<ArrayBuffer> }>
}
