/**
 * The terms of many chunks in columns, so that a batch crosses threads without copying.
 * Chunk `i` owns `terms[offsets[i] … offsets[i + 1])` and the counts beside them; its terms are ascending
 * and distinct.
 */
export interface TermBatch {
  /** How many chunks. */
  size: number
  /** Weighted length of each chunk in terms, as BM25 counts it. */
  lengths: Uint32Array<ArrayBuffer>
  /** `size + 1` positions into `terms`. */
  offsets: Uint32Array<ArrayBuffer>
  /** 32-bit hashes of analysed terms. */
  terms: Uint32Array<ArrayBuffer>
  /** Weighted occurrences of each term, at most 255. */
  counts: Uint8Array<ArrayBuffer>
}

/** The terms of a query: distinct, with how often each was asked for. */
export interface QueryTerms {
  terms: Uint32Array<ArrayBuffer>
  counts: Float32Array<ArrayBuffer>
}
