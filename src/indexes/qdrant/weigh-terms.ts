import { type LengthNorm, termWeight } from '../bm25.ts'
import type { QueryTerms, TermBatch } from '../term-batch.ts'

/** A vector of few numbers, as Qdrant takes it. */
export interface SparseVector {
  indices: number[]
  values: number[]
}

/** Digits that a 32-bit number holds. */
const DIGITS = 7

/**
 * What BM25 gives each term in chunk `chunk`, but for the term's rarity: Qdrant multiplies by that, so that
 * its scores are those of the embedded index.
 */
export function weighTerms(batch: TermBatch, chunk: number, norm: LengthNorm): SparseVector {
  const from = batch.offsets[chunk] ?? 0
  const to = batch.offsets[chunk + 1] ?? 0
  const length = batch.lengths[chunk] ?? 0
  return {
    indices: Array.from(batch.terms.subarray(from, to)),
    values: Array.from(batch.counts.subarray(from, to), (count) =>
      short(termWeight(count, length, norm)),
    ),
  }
}

export function toSparse({ terms, counts }: QueryTerms): SparseVector {
  return { indices: [...terms], values: Array.from(counts, short) }
}

/** As few digits as keep the number: they travel as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
