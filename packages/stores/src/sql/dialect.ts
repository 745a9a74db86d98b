import type { KeyedVectors, NewChunk } from '../document-store.ts'
import type { Tx } from './query.ts'

/** What a transaction may hold on to the exclusion of others on the same database. */
export type Exclusive =
  | 'queue'
  | 'embedding'
  | 'next-vectors'
  | 'artifacts'
  | 'runs'
  | 'api-keys'
  | 'accepted'
  | 'evaluation'
  | 'access'
  | 'collections'
  | 'usage'
  | `key:${string}`
  | `conversation:${string}`

/**
 * How the databases differ. SQLite has one writer, so that it needs none of the locks.
 */
export interface Dialect {
  /** Completes a condition: "is one of the numbers, or texts, in the array `parameter`". */
  isIn(parameter: `$${number}`, type?: 'bigint' | 'text'): string
  /** Whether the JSON array of texts in a column, which may be NULL, has one of the texts in the array `parameter`. */
  hasOneOf(column: string, parameter: `$${number}`): string
  /** Ends a query whose rows nobody else may change before this transaction ends: `FOR UPDATE` and its options. */
  locking(options?: string): string
  /** Waits until no other transaction holds this; shared holders exclude only exclusive ones. */
  exclude(tx: Tx, what: Exclusive, shared?: 'shared'): Promise<void>
  /** Waits for all transactions that have read `key_marks`, and keeps others from reading it. */
  lockKeyMarks(tx: Tx): Promise<void>
  /** Keeps others from adding and removing chunks. */
  lockChunks(tx: Tx): Promise<void>
  /** The row of `counts` that this connection counts in. */
  slot: string
  /** The last four characters, in lower case, of a document's file name or title; must be written as in the index. */
  nameEnding: string
  /** A query for the name and the bytes of each table. */
  tableBytes: string
  /** How many tables were found in a document's file; NULL if none. */
  foundTables: string
  /** The name of a document's file; NULL if it has none. */
  fileName: string
  mediaType: string
  /** The SHA-256 of a document's file; must be written as in the index. */
  fileDigest: string
  /** When the page of a source was fetched last. */
  fetchedAt: string
  /** Whether a text has another within it. `LIKE` takes the product of both lengths where they nearly match. */
  contains(text: string, part: string): string
  /** A text in the form used for case-insensitive comparison and sorting, by code points. */
  fold(text: string): string
  insertChunks(
    tx: Tx,
    document: number,
    revision: number,
    chunks: readonly NewChunk[],
  ): Promise<void>
  /** A table, with the index by which its keys are read without the rest of its rows. */
  keysOf: { chunks: string; vectors: string; contexts: string; pictures: string }
  /** Stores vectors of those chunks that still exist, and returns their keys. */
  insertVectors(tx: Tx, table: 'vectors' | 'next_vectors', vectors: KeyedVectors): Promise<number[]>
  /** Puts `next_vectors`, by its name, in the place of `vectors`, so that no vector is copied. */
  swapVectors: readonly string[]
}
