import type { Filter, Metadata } from '../schemas/metadata.ts'
import type { QueryTerms, TermBatch } from './term-batch.ts'

/** Matches in columns, best first, so that they cross threads without copying. */
export interface Ranking {
  keys: Uint32Array<ArrayBuffer>
  scores: Float64Array<ArrayBuffer>
}

/** Chunks that are taken to answer a query, so that what they say beyond it raises the score of others that say so, too. */
export interface Feedback {
  keys: Uint32Array<ArrayBuffer>
  terms: TermBatch
  /** How much each chunk counts, above 0. */
  weights: Float32Array<ArrayBuffer>
  /** Weight of all that is added to the query, whose own terms weigh 1 together. */
  share: number
  /** What the query finds without feedback. */
  found: Ranking
}

export interface IndexQuery {
  terms: QueryTerms
  /** With it nothing is searched for anew: what was `found` is put in a new order, by scores that are at least as high. */
  feedback?: Feedback | undefined
  /** The keys, ascending, among which to search; without it, all. They change what is found, not how it scores. */
  only?: Uint32Array | undefined
  /** Instead of `only`, where the index `filters` by itself: searches among the chunks of documents that it takes. */
  filter?: Filter | undefined
  /** The most matches wanted, at least 1. */
  limit: number
}

export type WordQuery = Omit<IndexQuery, 'feedback'>

interface HybridQuery extends WordQuery {
  /** A unit vector, on the way; nothing where there will be none. */
  vector: Promise<Float32Array<ArrayBuffer> | undefined>
}

export interface NearestQuery {
  /** A unit vector. */
  vector: Float32Array<ArrayBuffer>
  /** As in `IndexQuery`; where few are left by it, some of them may not be found. */
  only?: Uint32Array | undefined
  /** As in `IndexQuery`. */
  filter?: Filter | undefined
  limit: number
}

export interface IndexMatch {
  key: number
  /** Higher is better; comparable within one answer only. */
  score: number
}

/** A match of words and vectors, with what each of them made of it. */
export interface HybridMatch extends IndexMatch {
  /** BM25; absent where the chunk is not among the best by words. */
  lexical?: number
  /** The cosine to the question, moved towards its first hits; absent where the chunk has no vector, or was not asked for one. */
  dense?: number
}

export interface HybridRanking {
  /** Best first. */
  candidates: HybridMatch[]
  /** True where a higher limit would find nothing more. */
  exhausted: boolean
}

/** The metadata of each chunk's document, in the order of the keys; beyond its end there is none. */
export type ChunkMetadata = readonly (Metadata | undefined)[]

/** Unit vectors of chunks, one after another, in the order of `keys`. */
export interface VectorBatch {
  keys: Uint32Array<ArrayBuffer>
  /** Length of each. */
  dimension: number
  values: Float32Array<ArrayBuffer>
}

/**
 * A search index derived from the document store. It may hold keys that the document store does not (a claim under
 * way, a deletion not yet applied), so every match is checked there before it is shown. Changes take effect
 * in the order of the calls, awaited or not.
 */
export interface ChunkIndex {
  /**
   * Adds one chunk per key; when it resolves, the very next `search` finds them. A key already present is
   * replaced; of a key given twice the last chunk counts. The arrays stay the caller's.
   */
  add(keys: Uint32Array<ArrayBuffer>, terms: TermBatch, metadata: ChunkMetadata): Promise<void>
  /** Adds the vectors of chunks, or replaces them; when it resolves, the very next `nearest` finds them. All have the same dimension. */
  addVectors(batch: VectorBatch, metadata: ChunkMetadata): Promise<void>
  /** Whether metadata is kept here with the chunks; where it is not, it need not be given. */
  readonly keepsMetadata: boolean
  /**
   * Whether `search` and `nearest` take this filter, and find the chunks that the document store would take by it.
   * Where they do not, the document store resolves it into `only`. Throws what `signal` was aborted with.
   */
  filters(filter: Filter, signal?: AbortSignal): Promise<boolean>
  /** Forgets keys; unknown ones are ignored. When it resolves, neither `search` nor `nearest` returns them. */
  remove(keys: readonly number[]): Promise<void>
  /** Best first; equal scores in ascending key order. Throws what `signal` was aborted with. */
  search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * As `search`, with feedback from the best that it finds. Absent where the index cannot tell their terms.
   * Throws what `signal` was aborted with.
   */
  searchLearning?(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * The chunks whose vectors are nearest to a unit vector, best first: candidates, whose scores are
   * cosines to about a hundredth. Throws what `signal` was aborted with.
   */
  nearest(query: NearestQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * What `search` finds while the vector is on its way, fused with what `nearest` then finds; nothing without a vector.
   * Absent where the index does not compare vectors itself. Throws what `signal` was aborted with.
   */
  searchHybrid?(query: HybridQuery, signal?: AbortSignal): Promise<HybridRanking | undefined>
  /** As `keys`, for the vectors. */
  vectorKeys(): Promise<Uint32Array>
  /** Every key held, ascending: what a start compares with the document store. */
  keys(): Promise<Uint32Array>
  /** Throws AppError `index_unavailable` where the index cannot be used now. */
  check(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
