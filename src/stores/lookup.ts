import type { Filter, MetadataValue } from '../schemas/metadata.ts'
import type {
  ChunkPage,
  DocumentPage,
  DocumentStore,
  ListQuery,
  StoredDocument,
} from './document-store.ts'

export interface LookupQuery {
  filter?: Filter | undefined
  /** Only documents that are tables by the ending of their file's name or title. */
  tabular?: boolean | undefined
  limit: number
  cursor?: string | undefined
}

/** A field that documents have in their metadata. */
export interface MetadataField {
  name: string
  kind: 'string' | 'number' | 'boolean'
  documents: number
  least: MetadataValue
  most: MetadataValue
}

interface ValueCount {
  value: MetadataValue
  documents: number
}

export interface ValueQuery {
  field: string
  filter?: Filter | undefined
  /** Texts are counted by their first characters, such as 4 for the year of an ISO date. */
  characters?: number | undefined
  /** By value where true, else the most frequent first. */
  inOrder?: boolean | undefined
  limit: number
}

/** The endings, in lower case, of names of files that are tables. */
export const TABLE_ENDINGS = ['.csv', '.tsv', '.xlsx', '.parquet', '.jsonl', '.ndjson'] as const

/**
 * Questions about the documents that are served, answered through indexes of the document store. One that takes long
 * on a large corpus delays nobody else. Each throws what `signal` was aborted with.
 */
export interface DocumentLookup {
  /** Newest first. An unknown cursor throws `invalid_request`. */
  findDocuments(query: LookupQuery, signal: AbortSignal): Promise<DocumentPage>
  countDocuments(filter: Filter | undefined, signal: AbortSignal): Promise<number>
  /** The fields of the metadata of the documents that a filter takes, the most frequent first. */
  metadataFields(
    query: Pick<LookupQuery, 'filter' | 'limit'>,
    signal: AbortSignal,
  ): Promise<MetadataField[]>
  metadataValues(query: ValueQuery, signal: AbortSignal): Promise<ValueCount[]>
  /** The text of a document as it is served; nothing where there is none. */
  readText(documentId: string, signal: AbortSignal): Promise<string | undefined>
  /** A part of that text; of a long one no more than the part is read. */
  readPart(part: PartQuery, signal: AbortSignal): Promise<TextPart | undefined>
}

export interface PartQuery {
  documentId: string
  /** In UTF-16 code units, as `end`, which is not part of it and by itself the end of the text. */
  start: number
  end?: number | undefined
}

export interface TextPart {
  text: string
  /** How long all of it is, in UTF-16 code units. */
  length: number
  /** Whether the text is kept in one piece, so that a part costs as much as all of it; else there are only its chunks. */
  isWhole: boolean
}

const DOCUMENTS_PER_PAGE = 200
const CHUNKS_PER_PAGE = 500

/** The first `most` documents that a query finds, page by page. */
export async function* eachDocument(
  lookup: Pick<DocumentLookup, 'findDocuments'>,
  query: Pick<LookupQuery, 'filter' | 'tabular'>,
  most: number,
  signal: AbortSignal,
): AsyncGenerator<StoredDocument> {
  let cursor: string | undefined
  let seen = 0
  do {
    const page = await lookup.findDocuments({ ...query, cursor, limit: DOCUMENTS_PER_PAGE }, signal)
    yield* page.documents.slice(0, most - seen)
    seen += page.documents.length
    cursor = page.nextCursor
  } while (cursor !== undefined && seen < most)
}

/** A list to its end, page by page. */
export async function* documentPages(
  store: Pick<DocumentStore, 'list'>,
  query: Omit<ListQuery, 'limit' | 'cursor'>,
  signal: AbortSignal,
): AsyncGenerator<StoredDocument[]> {
  let cursor: string | undefined
  do {
    const page = await store.list({ ...query, limit: DOCUMENTS_PER_PAGE, cursor }, signal)
    yield page.documents
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

/** The chunks of a document to their end, page by page; none where it does not exist (any more). */
export async function* chunkPages(
  store: Pick<DocumentStore, 'listChunks'>,
  documentId: string,
): AsyncGenerator<ChunkPage> {
  let cursor: string | undefined
  do {
    const page = await store.listChunks({ documentId, limit: CHUNKS_PER_PAGE, cursor })
    if (!page) return
    yield page
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
