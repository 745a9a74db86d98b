import type { ChunkMetadata, Feedback, IndexMatch, IndexQuery } from '../chunk-index.ts'
import { addedTerms, candidateTerms } from '../feedback.ts'
import { byScore } from '../ranking.ts'
import {
  type CorpusStatistics,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from '../term-batch.ts'
import type { SparseVector } from './api.ts'
import { TERMS, type TermsMetadata } from './collections.ts'
import { createPayloads } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, type Points, pointsOf } from './points.ts'
import { createWeigher, createWeights, LENGTH_TERM, type Weights } from './weigher.ts'

const BATCH_CHUNKS = 500
/** Chunks that are weighed anew at least, where they are: what stands below them hardly comes among the best ten. */
const MIN_WEIGHED = 100

/** The words of chunks, each chunk a sparse vector of BM25 weights. */
export function createTermsPart(
  points: Points,
  indexes: PayloadIndexes,
  about: TermsMetadata,
  statistics: CorpusStatistics,
) {
  const weights = createWeights(about, statistics)
  const { ask, rescore } = createSearch(points, weights)

  return {
    remove: points.remove,
    keys: points.keys,
    /** Whether `search` may filter by these keys of the payload. */
    filters: indexes.hold,

    async add(keys: Uint32Array, terms: TermBatch, metadata?: ChunkMetadata) {
      await indexes.makeFor(metadata)
      const vectorOf = (chunk: number) => weighTerms(terms, chunk, weights)
      await points.put(pointsOf(keys, TERMS, vectorOf, createPayloads(metadata)), BATCH_CHUNKS)
    },

    async search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      const { terms, feedback } = query
      if (terms.terms.length === 0) return []
      if (feedback) return rescore({ ...query, feedback }, signal)
      return indexes.passOn(query, ask(query, signal))
    },
  }
}

function createSearch(points: Points, { kept, drifted, weighted, idf }: Weights) {
  const weigh = createWeigher(points, kept)

  /** What chunks hold of terms. */
  const scoresOf = async (keys: Uint32Array, added: QueryTerms, signal?: AbortSignal) => {
    const terms = weighted(added)
    const norm = drifted()
    const among = { only: keys.toSorted(), limit: keys.length }
    if (!norm) return bestOf(among, searchFor(points, terms, signal))
    const unweighed = Array.from(keys, (key) => ({ key, score: 0 }))
    return weigh(unweighed, terms, norm, signal)
  }

  return {
    async ask(query: IndexQuery, signal?: AbortSignal) {
      const terms = weighted(query.terms)
      const norm = drifted()
      const limit = norm ? Math.max(query.limit, MIN_WEIGHED) : query.limit
      const found = await bestOf({ ...query, limit }, searchFor(points, terms, signal))
      if (!norm) return found
      return (await weigh(found, terms, norm, signal)).sort(byScore).slice(0, query.limit)
    },

    /** What was found, each chunk scored higher by what it holds of the terms that feedback adds. */
    async rescore(
      { terms, feedback, limit }: IndexQuery & { feedback: Feedback },
      signal?: AbortSignal,
    ): Promise<IndexMatch[]> {
      const { found } = feedback
      const candidates = candidateTerms(terms, feedback, drifted() ?? kept)
      const added = addedTerms(terms, feedback, candidates, idf)
      const gains = added.terms.length > 0 ? await scoresOf(found.keys, added, signal) : []
      const gainOf = new Map(gains.map(({ key, score }) => [key, score]))
      const matches = Array.from(found.keys, (key, i) => {
        return { key, score: (found.scores[i] ?? 0) + (gainOf.get(key) ?? 0) }
      })
      return matches.sort(byScore).slice(0, limit)
    },
  }
}

function searchFor(points: Points, terms: QueryTerms, signal: AbortSignal | undefined) {
  const query = { indices: [...terms.terms], values: Array.from(terms.counts, short) }
  return (where: Parameters<Parameters<typeof bestOf>[1]>[0]) =>
    points.query({ query, using: TERMS, ...where }, signal)
}

/** Digits that a 32-bit number holds. */
const DIGITS = 7

/** What BM25 gives each term of a chunk but for its idf, with which a query comes; and the chunk's length, so that it can be weighed anew. */
function weighTerms(
  batch: TermBatch,
  chunk: number,
  { kept, own }: Pick<Weights, 'kept' | 'own'>,
): SparseVector {
  const from = batch.offsets[chunk] ?? 0
  const to = batch.offsets[chunk + 1] ?? 0
  const length = batch.lengths[chunk] ?? 0
  const indices = Array.from(batch.terms.subarray(from, to))
  const values = Array.from(batch.counts.subarray(from, to), (count) =>
    short(termWeight(count, length, kept)),
  )
  if (!own) return { indices, values }
  // One term of four thousand million is not searched for.
  const place = indices.at(-1) === LENGTH_TERM ? indices.length - 1 : indices.length
  return {
    indices: indices.toSpliced(place, 1, LENGTH_TERM),
    values: values.toSpliced(place, 1, length),
  }
}

/** As few digits as keep the number: they travel as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
