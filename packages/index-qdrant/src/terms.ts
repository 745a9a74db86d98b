import type { ChunkLabels, IndexMatch, LexicalQuery } from '@agent-server/search'
import {
  lengthNorm,
  type QueryTerms,
  shareOfTerms,
  type TermBatch,
  termWeight,
} from '@agent-server/search'
import type { SparseVector } from './api.ts'
import { TERMS } from './collections.ts'
import { createPayloads } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, type Points, pointsOf } from './points.ts'

/** Per request; several are sent at once. */
const BATCH_CHUNKS = 128
/** The mean chunk length, in terms, that the stored weights assume in every collection. Measured, see docs/internals/qdrant.md. */
const MEAN_LENGTH = 54
const NORM = lengthNorm(1, MEAN_LENGTH)

/** The terms of chunks, each chunk stored as a sparse vector of BM25 weights, which Qdrant multiplies by their idf. */
export function createTermsPart(points: Points, indexes: PayloadIndexes) {
  return {
    remove: points.remove,
    keys: points.keys,
    /** Whether searches can filter by these payload keys. */
    filters: indexes.hold,

    async add(keys: Uint32Array, terms: TermBatch, labels: ChunkLabels) {
      await indexes.makeFor(labels)
      const vectorOf = (chunk: number) => weighTerms(terms, chunk)
      await points.put(pointsOf(keys, TERMS, vectorOf, createPayloads(labels)), BATCH_CHUNKS)
    },

    async setLabels(keys: readonly number[], labels: ChunkLabels) {
      await indexes.makeFor(labels)
      await points.setPayloads(keys, createPayloads(labels))
    },

    async search(query: LexicalQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      if (query.terms.terms.length === 0) return []
      const request = { query: toSparse(query.terms), using: TERMS }
      const best = bestOf(query, (where) => points.query({ ...request, ...where }, signal))
      return indexes.passOn(query, best)
    },

    /** The share of the query's terms that each of these chunks contains; NaN for an unknown key. */
    async sharesOf(query: QueryTerms, keys: Uint32Array, signal?: AbortSignal) {
      const held = await points.indices(keys, TERMS, signal)
      return Float64Array.from(keys, (key) => {
        const terms = held.get(key)
        return terms ? shareOfTerms(query, (term) => terms.has(term)) : Number.NaN
      })
    },
  }
}

function toSparse({ terms, counts }: QueryTerms): SparseVector {
  return { indices: [...terms], values: Array.from(counts, short) }
}

/** BM25 weights of a chunk's terms, without their idf. */
function weighTerms(batch: TermBatch, chunk: number): SparseVector {
  const [from = 0, to = 0] = batch.offsets.subarray(chunk, chunk + 2)
  const length = batch.lengths[chunk] ?? 0
  return {
    indices: Array.from(batch.terms.subarray(from, to)),
    values: Array.from(batch.counts.subarray(from, to), (count) =>
      short(termWeight(count, length, NORM)),
    ),
  }
}

/** Significant decimal digits of a 32-bit float. */
const DIGITS = 7

/** Rounds to the digits of a 32-bit float, since numbers are sent as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
