import type { ChunkMetadata, Feedback, IndexMatch, IndexQuery } from '../chunk-index.ts'
import { addedTerms, type Candidate, candidateTerms } from '../feedback-terms.ts'
import {
  type LengthNorm,
  lengthNorm,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from '../term-batch.ts'
import { TERMS } from './collections.ts'
import type { PayloadIndexes } from './filters.ts'
import { createPayloads, type PayloadOf } from './payload.ts'
import { batched, bestOf, type Point, type Points } from './points.ts'

const BATCH_CHUNKS = 500

/** The words of chunks, each chunk a sparse vector of BM25 weights. */
export interface TermsPart {
  add(keys: Uint32Array, terms: TermBatch, metadata?: ChunkMetadata): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  /** Whether `search` may filter by these keys of the payload. */
  filters(keys: readonly string[], signal?: AbortSignal): Promise<boolean>
  keys(): Promise<Uint32Array<ArrayBuffer>>
  count(): Promise<number>
  search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]>
}

export function createTermsPart(
  points: Points,
  indexes: Pick<PayloadIndexes, 'makeFor' | 'hold' | 'passOn'>,
  averageLength: number,
): TermsPart {
  const norm = lengthNorm(1, averageLength)

  return {
    remove: points.remove,
    filters: indexes.hold,
    keys: points.keys,
    count: points.count,
    async add(keys, terms, metadata) {
      await indexes.makeFor(metadata)
      const payloadOf = createPayloads(metadata)
      await points.put(batched(pointsOf(keys, terms, norm, payloadOf), BATCH_CHUNKS))
    },

    async search(query, signal) {
      const { terms, feedback } = query
      if (terms.terms.length === 0) return []
      if (!feedback) return indexes.passOn(query, bestOf(query, searchFor(points, terms, signal)))
      const candidates = candidateTerms(terms, feedback, norm)
      const rarities = await askRarities(points, feedback, candidates, signal)
      const added = addedTerms(terms, feedback, candidates, ({ term }) => rarities.get(term) ?? 0)
      return liftFound(points, { ...query, feedback }, added, signal)
    },
  }
}

function searchFor(points: Points, terms: QueryTerms, signal: AbortSignal | undefined) {
  return (filter: object | undefined, limit: number) =>
    points.query({ query: toSparse(terms), using: TERMS, ...(filter && { filter }), limit }, signal)
}

/** What was found, each chunk lifted by what it holds of the terms that feedback adds. */
async function liftFound(
  points: Points,
  { feedback: { found }, limit }: IndexQuery & { feedback: Feedback },
  added: QueryTerms,
  signal: AbortSignal | undefined,
): Promise<IndexMatch[]> {
  const only = found.keys.toSorted()
  const lifts =
    added.terms.length > 0
      ? await bestOf({ only, limit: only.length }, searchFor(points, added, signal))
      : []
  const liftOf = new Map(lifts.map(({ key, score }) => [key, score]))
  return Array.from(found.keys, (key, i) => {
    return { key, score: (found.scores[i] ?? 0) + (liftOf.get(key) ?? 0) }
  })
    .sort((a, b) => b.score - a.score || a.key - b.key)
    .slice(0, limit)
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
    const vector = { [TERMS]: weighTerms(terms, chunk, norm) }
    yield { id, vector, payload: payloadOf(chunk) }
  }
}

/**
 * How rare terms are, which Qdrant tells nobody but uses: a query for one term in one chunk scores the
 * term's weight there, which is ours, times its rarity.
 */
async function askRarities(
  points: Points,
  { keys }: Feedback,
  candidates: readonly Candidate[],
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

/** A vector of few numbers, as Qdrant takes it. */
interface SparseVector {
  indices: number[]
  values: number[]
}

/** Digits that a 32-bit number holds. */
const DIGITS = 7

/**
 * What BM25 gives each term in chunk `chunk`, but for the term's rarity: Qdrant multiplies by that, so that
 * its scores are those of the embedded index.
 */
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

function toSparse({ terms, counts }: QueryTerms): SparseVector {
  return { indices: [...terms], values: Array.from(counts, short) }
}

/** As few digits as keep the number: they travel as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
