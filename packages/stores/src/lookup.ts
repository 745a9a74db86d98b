import { pagesOf } from '@agent-server/lib/pages.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Filter, MetadataValue } from '@agent-server/schemas/metadata.ts'
import type { DocumentPage, DocumentStore, ListQuery, StoredDocument } from './document-store.ts'

export interface LookupQuery {
  filter?: Filter | undefined
  /** Only documents with tables, judging by the extension of their file's name or title, or found while reading. */
  tabular?: boolean | undefined
  limit: number
  cursor?: string | undefined
}

/** A metadata field that documents have. */
export interface MetadataField {
  name: string
  kind: 'string' | 'number' | 'boolean'
  documents: number
  least: MetadataValue
  most: MetadataValue
}

/** A collection, and how many documents it has. */
interface CollectionSize {
  name: string
  documents: number
}

interface ValueCount {
  value: MetadataValue
  documents: number
}

export interface ValueQuery {
  field: string
  filter?: Filter | undefined
  /** Groups strings by this many first characters, such as 4 for the year of an ISO date. */
  characters?: number | undefined
  /** Sorts by value if true, else by descending frequency. */
  inOrder?: boolean | undefined
  limit: number
}

/** The lower-case extensions of files that are tables. */
export const TABLE_ENDINGS = ['.csv', '.tsv', '.xlsx', '.parquet', '.jsonl', '.ndjson'] as const

/**
 * Queries about the served documents that are visible, answered by the indexes of the document store. A slow query on a
 * large corpus does not delay anything else. Each throws the reason of `signal`.
 */
export interface DocumentLookup {
  /** Newest first. Throws `invalid_request` for an unknown cursor. */
  findDocuments(
    visibility: Visibility,
    query: LookupQuery,
    signal: AbortSignal,
  ): Promise<DocumentPage>
  countDocuments(
    visibility: Visibility,
    filter: Filter | undefined,
    signal: AbortSignal,
  ): Promise<number>
  /** The collections of documents in one, those with the most documents first. */
  collections(visibility: Visibility, limit: number, signal: AbortSignal): Promise<CollectionSize[]>
  /** Conversations that are gone but have documents, whether or not these are served. */
  goneConversations(visibility: Visibility, limit: number, signal: AbortSignal): Promise<string[]>
  /** The metadata fields of the documents that match a filter, the most frequent first. */
  metadataFields(
    visibility: Visibility,
    query: Pick<LookupQuery, 'filter' | 'limit'>,
    signal: AbortSignal,
  ): Promise<MetadataField[]>
  metadataValues(
    visibility: Visibility,
    query: ValueQuery,
    signal: AbortSignal,
  ): Promise<ValueCount[]>
  /** The served text of a document; undefined if there is none. */
  readText(
    visibility: Visibility,
    documentId: string,
    signal: AbortSignal,
  ): Promise<string | undefined>
  /** A part of that text; of a long one, no more than the part is read. */
  readPart(
    visibility: Visibility,
    part: PartQuery,
    signal: AbortSignal,
  ): Promise<TextPart | undefined>
}

export interface PartQuery {
  documentId: string
  /** In UTF-16 code units, like `end`, which is exclusive and defaults to the end of the text. */
  start: number
  end?: number | undefined
}

export interface TextPart {
  text: string
  /** The length of the whole text, in UTF-16 code units. */
  length: number
  /**
   * Whether the text is stored in one piece, so that reading a part costs as much as the whole; else only its chunks
   * are stored.
   */
  isWhole: boolean
}

const DOCUMENTS_PER_PAGE = 200
const CHUNKS_PER_PAGE = 500

/** The first `most` documents that match a query, read page by page. */
export async function* eachDocument(
  lookup: Pick<DocumentLookup, 'findDocuments'>,
  visibility: Visibility,
  query: Pick<LookupQuery, 'filter' | 'tabular'>,
  most: number,
  signal: AbortSignal,
): AsyncGenerator<StoredDocument> {
  let left = most
  const pages = pagesOf((cursor) =>
    lookup.findDocuments(visibility, { ...query, cursor, limit: DOCUMENTS_PER_PAGE }, signal),
  )
  for await (const { documents } of pages) {
    yield* documents.slice(0, left)
    left -= documents.length
    if (left <= 0) return
  }
}

/** All documents of a list, page by page. */
export const documentPages = (
  store: Pick<DocumentStore, 'list'>,
  visibility: Visibility,
  query: Omit<ListQuery, 'limit' | 'cursor'>,
  signal: AbortSignal,
) =>
  pagesOf((cursor) =>
    store.list(visibility, { ...query, limit: DOCUMENTS_PER_PAGE, cursor }, signal),
  )

/** All chunks of a document, page by page; none if it does not exist (any more). */
export const chunkPages = (
  store: Pick<DocumentStore, 'listChunks'>,
  visibility: Visibility,
  documentId: string,
) =>
  pagesOf((cursor) => store.listChunks(visibility, { documentId, limit: CHUNKS_PER_PAGE, cursor }))
