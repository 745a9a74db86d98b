import type { ChunkMetadata, Feedback, IndexMatch, IndexQuery } from '../chunk-index.ts'
import { addedTerms, type CandidateTerm, candidateTerms } from '../feedback-terms.ts'
import {
  type LengthNorm,
  lengthNorm,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from '../term-batch.ts'
import type { SparseVector } from './api.ts'
import { TERMS } from './collections.ts'
import { createPayloads, type PayloadOf } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, byScore, type Point, type Points } from './points.ts'

const BATCH_CHUNKS = 500

/** The words of chunks, each chunk a sparse vector of BM25 weights. */
export function createTermsPart(points: Points, indexes: PayloadIndexes, averageLength: number) {
  const norm = lengthNorm(1, averageLength)

  return {
    remove: points.remove,
    keys: points.keys,
    /** Whether `search` may filter by these keys of the payload. */
    filters: indexes.hold,

    async add(keys: Uint32Array, terms: TermBatch, metadata?: ChunkMetadata) {
      await indexes.makeFor(metadata)
      await points.put(pointsOf(keys, terms, norm, createPayloads(metadata)), BATCH_CHUNKS)
    },

    async search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      const { terms, feedback } = query
      if (terms.terms.length === 0) return []
      if (!feedback) return indexes.passOn(query, bestOf(query, searchFor(points, terms, signal)))
      const candidates = candidateTerms(terms, feedback, norm)
      const idf = await askIdf(points, feedback, candidates, signal)
      const added = addedTerms(terms, feedback, candidates, ({ term }) => idf.get(term) ?? 0)
      return rescore(points, { ...query, feedback }, added, signal)
    },
  }
}

function searchFor(points: Points, terms: QueryTerms, signal: AbortSignal | undefined) {
  const query = { indices: [...terms.terms], values: Array.from(terms.counts, short) }
  return (where: Parameters<Parameters<typeof bestOf>[1]>[0]) =>
    points.query({ query, using: TERMS, ...where }, signal)
}

/** What was found, each chunk scored higher by what it holds of the terms that feedback adds. */
async function rescore(
  points: Points,
  { feedback: { found }, limit }: IndexQuery & { feedback: Feedback },
  added: QueryTerms,
  signal: AbortSignal | undefined,
): Promise<IndexMatch[]> {
  const among = { only: found.keys.toSorted(), limit: found.keys.length }
  const isAny = added.terms.length > 0
  const gains = isAny ? await bestOf(among, searchFor(points, added, signal)) : []
  const gainOf = new Map(gains.map(({ key, score }) => [key, score]))
  const matches = Array.from(found.keys, (key, i) => {
    return { key, score: (found.scores[i] ?? 0) + (gainOf.get(key) ?? 0) }
  })
  return matches.sort(byScore).slice(0, limit)
}

function* pointsOf(
  keys: Uint32Array,
  terms: TermBatch,
  norm: LengthNorm,
  payloadOf: PayloadOf,
): Generator<Point> {
  // Of a key given twice the last chunk counts.
  const last = new Map(Array.from(keys, (key, chunk) => [key, chunk]))
  for (const [id, chunk] of last) {
    yield { id, vector: { [TERMS]: weighTerms(terms, chunk, norm) }, payload: payloadOf(chunk) }
  }
}

/**
 * The idf of terms, which Qdrant uses but answers nobody: a query for one term in one chunk scores the
 * term's weight there, which is ours, times its inverse document frequency.
 */
async function askIdf(
  points: Points,
  { keys }: Feedback,
  candidates: readonly CandidateTerm[],
  signal: AbortSignal | undefined,
): Promise<Map<number, number>> {
  const queries = candidates.map(({ term, best }) => ({
    query: { indices: [term], values: [1] },
    using: TERMS,
    filter: { must: [{ has_id: [keys[best.chunk] ?? 0] }] },
    limit: 1,
  }))
  const answers = await points.queryAll(queries, signal)
  return new Map(
    candidates.map(({ term, best }, i) => [term, (answers[i]?.[0]?.score ?? 0) / best.weight]),
  )
}

/** Digits that a 32-bit number holds. */
const DIGITS = 7

/** What BM25 gives each term of a chunk but for its idf: Qdrant multiplies by that, so that its scores are those of the embedded index. */
function weighTerms(batch: TermBatch, chunk: number, norm: LengthNorm): SparseVector {
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

/** As few digits as keep the number: they travel as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
