import type { Labels } from '@agent-server/lib/labels.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { QueryTerms, TermBatch } from './term-batch.ts'

/** `hybrid` fuses the rankings by words and by vectors. */
export type SearchMode = 'hybrid' | 'lexical' | 'dense'

export interface ChunkQuery {
  /** `dense` ignores the terms, `lexical` the vector. */
  mode: SearchMode
  terms: QueryTerms
  /** A unit vector, perhaps still being computed; undefined if there is none, which makes the search lexical. */
  vector?: Promise<Float32Array<ArrayBuffer> | undefined> | undefined
  /** Maximum number of matches of each stage, at least 1. */
  limit: number
}

export interface IndexMatch {
  key: number
  /** Higher is better; comparable within one answer only. */
  score: number
}

export interface LexicalMatch extends IndexMatch {
  /** The share of the question's terms, by their weight in it, that the chunk contains; absent if the index does not tell. */
  terms?: number
}

/** A match with the score of each stage. */
export interface Candidate extends LexicalMatch {
  /** BM25 score; absent if the chunk is not among the best lexical matches. */
  lexical?: number
  /** Cosine with the question's vector, moved towards the first hits if the question is long; absent if the chunk's is missing or unused. */
  dense?: number
}

export interface SearchResult {
  /** Best first; equal scores in ascending key order. */
  candidates: Candidate[]
  /** True if a higher limit would find nothing more. */
  exhausted: boolean
  /** True if vectors should have been compared but could not be. */
  degraded: boolean
}

/** The labels of each chunk's document, in the order of the keys; undefined for a chunk that is gone. */
export type ChunkLabels = readonly (Labels | undefined)[]

/** Unit vectors of chunks, one after another, in the order of `keys`. */
export interface VectorBatch {
  keys: Uint32Array<ArrayBuffer>
  /** Length of each vector. */
  dimension: number
  values: Float32Array<ArrayBuffer>
}

/** What an index reads from the document store from which it is derived. Unknown keys are omitted. */
export interface IndexSource {
  /** The keys of all chunks whose documents are visible, ascending. */
  visibleKeys(visibility: Visibility, signal?: AbortSignal): Promise<Uint32Array>
  /** The collections whose documents somebody may read whom one of these entries names, unless a document says itself. */
  readableCollections(principals: readonly string[]): Promise<string[]>
  readVectors(keys: readonly number[]): Promise<VectorBatch>
  readChunks(
    visibility: Visibility,
    keys: readonly number[],
  ): Promise<{ readonly chunks: readonly (Labels & { key: number })[] }>
}

/**
 * A search index derived from the document store. It may hold keys that the document store does not (a claim in
 * progress, a deletion not yet applied), so every match is checked there before it is shown. Changes take effect
 * in the order of the calls, whether or not these are awaited.
 */
export interface ChunkIndex {
  /** Whether other servers may change it, or someone may remove it, while this one runs. */
  readonly shared: boolean
  /**
   * To be awaited before anything else; returns whether the index was just created. Throws an Error that says what to
   * do if the index does not fit, and AppError `index_unavailable` if it may be tried again.
   */
  open(signal?: AbortSignal): Promise<boolean>
  /** Which part of a shared index has disappeared; `replaced` if someone else has recreated it. */
  lost(signal?: AbortSignal): Promise<'lexical' | 'vectors' | 'replaced' | undefined>
  /**
   * Adds one chunk per key; once it resolves, the next search finds them. A key already present is replaced; if a
   * key is given twice, the last chunk counts. The arrays still belong to the caller.
   */
  add(keys: Uint32Array<ArrayBuffer>, terms: TermBatch, labels: ChunkLabels): Promise<void>
  /** Adds or replaces vectors, all of one dimension, of chunks that the document store holds. */
  addVectors(batch: VectorBatch): Promise<void>
  /** Goes by the labels that the documents of these chunks have now, once it resolves. */
  refreshLabels(keys: readonly number[]): Promise<void>
  /** Removes keys; unknown ones are ignored. Once it resolves, the next search does not return them. */
  remove(keys: readonly number[]): Promise<void>
  /**
   * The best chunks of those that are visible, as in the document store; documents of other conversations may be among
   * them, as these are few, and dropped when the chunks are read. Lexical search runs while the vector is computed. Throws
   * the abort reason of `signal`.
   */
  search(visibility: Visibility, query: ChunkQuery, signal?: AbortSignal): Promise<SearchResult>
  /**
   * How many of the visible chunks have each of these terms; documents of other conversations may be among them, as in a
   * search. Absent if the index cannot count so many at once.
   */
  frequencies?(
    visibility: Visibility,
    terms: Uint32Array<ArrayBuffer>,
    signal?: AbortSignal,
  ): Promise<Uint32Array>
  /** The keys of all vectors held, ascending. */
  vectorKeys(): Promise<Uint32Array>
  /** All keys held, ascending; compared with the document store at start-up. */
  keys(): Promise<Uint32Array>
  /** Throws AppError `index_unavailable` if the index cannot be used now. */
  check(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
