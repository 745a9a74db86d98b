import type { Filter, Metadata } from '../schemas/metadata.ts'
import type { QueryTerms, TermBatch } from './term-batch.ts'

/** Matches in columns, best first, which can be transferred between threads without copying. */
export interface Ranking {
  keys: Uint32Array<ArrayBuffer>
  scores: Float64Array<ArrayBuffer>
}

/** Pseudo-relevance feedback: chunks assumed relevant, whose other terms raise the score of chunks containing them. */
export interface Feedback {
  keys: Uint32Array<ArrayBuffer>
  terms: TermBatch
  /** Weight of each chunk, greater than 0. */
  weights: Float32Array<ArrayBuffer>
  /** Total weight of the added terms, relative to a total weight of 1 for the query's own terms. */
  share: number
  /** The ranking that the query found without feedback. */
  found: Ranking
}

export interface IndexQuery {
  terms: QueryTerms
  /** If given, there is no new search: the matches in `found` are reordered, by scores at least as high as before. */
  feedback?: Feedback | undefined
  /** The keys to search among, ascending; if absent, all. They restrict the matches but do not affect their scores. */
  only?: Uint32Array | undefined
  /** Instead of `only`, if the index supports the filter (see `filters`): searches only documents that match it. */
  filter?: Filter | undefined
  /** Maximum number of matches, at least 1. */
  limit: number
}

export type WordQuery = Omit<IndexQuery, 'feedback'>

interface HybridQuery extends WordQuery {
  /** A unit vector, still being computed; resolves to undefined if there is none. */
  vector: Promise<Float32Array<ArrayBuffer> | undefined>
}

export interface NearestQuery {
  /** A unit vector. */
  vector: Float32Array<ArrayBuffer>
  /** As in `IndexQuery`; if it leaves only few chunks, some of them may not be found. */
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

/** A match of hybrid search, with the score of each stage. */
export interface HybridMatch extends IndexMatch {
  /** BM25 score; absent if the chunk is not among the best lexical matches. */
  lexical?: number
  /** Cosine with the question's vector, moved towards the first hits; absent if the chunk's is missing or unused. */
  dense?: number
}

export interface HybridRanking {
  /** Best first. */
  candidates: HybridMatch[]
  /** True if a higher limit would find nothing more. */
  exhausted: boolean
}

/** The metadata of each chunk's document, in the order of the keys; may be shorter than the list of keys. */
export type ChunkMetadata = readonly (Metadata | undefined)[]

/** Unit vectors of chunks, one after another, in the order of `keys`. */
export interface VectorBatch {
  keys: Uint32Array<ArrayBuffer>
  /** Length of each vector. */
  dimension: number
  values: Float32Array<ArrayBuffer>
}

/**
 * A search index derived from the document store. It may hold keys that the document store does not (a claim in
 * progress, a deletion not yet applied), so every match is checked there before it is shown. Changes take effect
 * in the order of the calls, whether or not these are awaited.
 */
export interface ChunkIndex {
  /**
   * Adds one chunk per key; once it resolves, the next `search` finds them. A key already present is replaced; if a
   * key is given twice, the last chunk counts. The arrays still belong to the caller.
   */
  add(keys: Uint32Array<ArrayBuffer>, terms: TermBatch, metadata: ChunkMetadata): Promise<void>
  /** Adds or replaces vectors of chunks, all of one dimension; once it resolves, the next `nearest` finds them. */
  addVectors(batch: VectorBatch, metadata: ChunkMetadata): Promise<void>
  /** Whether the index stores metadata with the chunks; if not, it need not be given. */
  readonly keepsMetadata: boolean
  /**
   * Whether `search` and `nearest` accept this filter and apply it exactly as the document store would. If not, the
   * document store must resolve it into `only`. Throws the abort reason of `signal`.
   */
  filters(filter: Filter, signal?: AbortSignal): Promise<boolean>
  /** Removes keys; unknown ones are ignored. Once it resolves, neither `search` nor `nearest` returns them. */
  remove(keys: readonly number[]): Promise<void>
  /** Best first; equal scores in ascending key order. Throws the abort reason of `signal`. */
  search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * Like `search`, with feedback from its best matches. Absent if the index cannot return the terms of chunks.
   * Throws the abort reason of `signal`.
   */
  searchLearning?(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * The chunks whose vectors are nearest to a unit vector, best first. They are candidates: their scores are cosines
   * accurate to about 0.01. Throws the abort reason of `signal`.
   */
  nearest(query: NearestQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * Runs `search` while the vector is being computed and fuses the result with that of `nearest`; resolves to
   * undefined if there is no vector. Absent if the index does not compare vectors itself. Throws the abort reason of
   * `signal`.
   */
  searchHybrid?(query: HybridQuery, signal?: AbortSignal): Promise<HybridRanking | undefined>
  /** The keys of all vectors held, ascending. */
  vectorKeys(): Promise<Uint32Array>
  /** All keys held, ascending; compared with the document store at start-up. */
  keys(): Promise<Uint32Array>
  /** Throws AppError `index_unavailable` if the index cannot be used now. */
  check(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
