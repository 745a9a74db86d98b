import type { ChunkMetadata, Feedback, IndexMatch, IndexQuery } from '../chunk-index.ts'
import { addedTerms, candidateTerms } from '../feedback.ts'
import { byScore } from '../ranking.ts'
import {
  type CorpusStatistics,
  inverseFrequency,
  K1,
  type LengthNorm,
  lengthNorm,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from '../term-batch.ts'
import type { SparseVector } from './api.ts'
import { isWeighedHere, TERMS, type TermsMetadata } from './collections.ts'
import { createPayloads } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, type Points, pointsOf } from './points.ts'

const BATCH_CHUNKS = 500
/** Minimum number of chunks rescored after a drift: chunks ranked lower hardly ever reach the top ten. */
const MIN_WEIGHED = 100

/**
 * The terms of chunks, each chunk stored as a sparse vector of BM25 weights. The weights are based on the mean chunk
 * length at the time the collection was created; once that has drifted, Qdrant's matches are rescored here.
 */
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
    /** Whether `search` can filter by these payload keys. */
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

  /** Scores chunks by the added terms. */
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

    /** Reorders `feedback.found` after adding the scores of the terms that feedback adds. */
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

/** The largest term hash, under which a chunk's vector holds the chunk's length. */
const LENGTH_TERM = 2 ** 32 - 1
/** Maximum number of chunks whose terms are cached, about 1 kB each; the chunk of a key never changes. */
const MAX_REMEMBERED = 8_192

/** Relative drift of the mean chunk length from which chunks are rescored. */
const MAX_DRIFT = 0.005

type Weights = ReturnType<typeof createWeights>

/** Term weights in a term collection, based on the document store's statistics of all chunks. */
function createWeights(about: TermsMetadata, statistics: CorpusStatistics) {
  const own = isWeighedHere(about)
  const idf = (term: number) =>
    // This entry holds the chunk's length, which must not count.
    term === LENGTH_TERM ? 0 : inverseFrequency(statistics.chunks(), statistics.holding(term))

  return {
    /** Whether queries include the weight of each term; if not, Qdrant computes it. */
    own,
    idf,
    /** The length normalisation with which the stored weights were computed. */
    kept: lengthNorm(1, about.averageLength),

    /** The current length normalisation; undefined if it has not drifted from `kept`. */
    drifted(): LengthNorm | undefined {
      const [chunks, length] = [statistics.chunks(), statistics.length()]
      if (!own || chunks <= 0 || length <= 0) return undefined
      const drift = Math.abs(length / chunks / about.averageLength - 1)
      return drift > MAX_DRIFT ? lengthNorm(chunks, length) : undefined
    },

    /** The query terms to send to Qdrant. */
    weighted: ({ terms, counts }: QueryTerms): QueryTerms => ({
      terms,
      counts: own ? counts.map((count, i) => count * idf(terms[i] ?? 0)) : counts,
    }),
  }
}

interface ChunkTerms {
  length: number
  terms: Uint32Array
  counts: Uint8Array
}

/**
 * Scores chunks by BM25 with the current length normalisation, from weights computed with a former one. Weights that
 * are not cached are read from Qdrant. A chunk that no longer exists keeps its score.
 */
function createWeigher(points: Pick<Points, 'sparseVectors'>, kept: LengthNorm) {
  const remembered = new Map<number, ChunkTerms>()

  const remember = (key: number, terms: ChunkTerms) => {
    // Moves the entry to the end of the map; eviction takes the first.
    remembered.delete(key)
    remembered.set(key, terms)
    const [first] = remembered.size > MAX_REMEMBERED ? remembered.keys() : []
    if (first !== undefined) remembered.delete(first)
  }

  const recall = async (keys: readonly number[], signal?: AbortSignal) => {
    const known = new Map<number, ChunkTerms>()
    for (const key of keys) {
      const terms = remembered.get(key)
      if (terms) known.set(key, terms)
    }
    const missing = keys.filter((key) => !known.has(key))
    const found = await points.sparseVectors(missing, TERMS, signal)
    for (const { id, ...vector } of found) known.set(id, readTerms(vector, kept))
    for (const [key, terms] of known) remember(key, terms)
    return known
  }

  return async (
    matches: readonly IndexMatch[],
    query: QueryTerms,
    norm: LengthNorm,
    signal?: AbortSignal,
  ): Promise<IndexMatch[]> => {
    const weights = new Map(Array.from(query.terms, (term, i) => [term, query.counts[i] ?? 0]))
    const known = await recall(
      matches.map(({ key }) => key),
      signal,
    )
    return matches.map(({ key, score }) => {
      const chunk = known.get(key)
      return { key, score: chunk ? scoreOf(chunk, weights, norm) : score }
    })
  }
}

/** Recovers the counts from the weights: the inverse of `termWeight`. */
function readTerms(
  { indices, values }: { indices: readonly number[]; values: readonly number[] },
  { base, slope }: LengthNorm,
): ChunkTerms {
  const length = values[indices.indexOf(LENGTH_TERM)] ?? 0
  const counts = values.map((weight) => (weight * (base + slope * length)) / (K1 + 1 - weight))
  return { length, terms: Uint32Array.from(indices), counts: Uint8Array.from(counts, Math.round) }
}

function scoreOf(
  { length, terms, counts }: ChunkTerms,
  weights: ReadonlyMap<number, number>,
  norm: LengthNorm,
): number {
  let score = 0
  terms.forEach((term, i) => {
    const weight = term === LENGTH_TERM ? undefined : weights.get(term)
    if (weight !== undefined) score += weight * termWeight(counts[i] ?? 0, length, norm)
  })
  return score
}

/** Significant decimal digits of a 32-bit float. */
const DIGITS = 7

/** BM25 weights of a chunk's terms, without the idf, which the query includes; and its length, for rescoring. */
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
  // A term whose hash equals LENGTH_TERM is overwritten, so it cannot be searched for: 1 of 2 ** 32 hashes.
  const place = indices.at(-1) === LENGTH_TERM ? indices.length - 1 : indices.length
  return {
    indices: indices.toSpliced(place, 1, LENGTH_TERM),
    values: values.toSpliced(place, 1, length),
  }
}

/** Rounds to the digits of a 32-bit float, since numbers are sent as text. */
export function short(value: number): number {
  return Number(value.toPrecision(DIGITS))
}
