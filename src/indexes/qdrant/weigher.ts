import type { IndexMatch } from '../chunk-index.ts'
import {
  type CorpusStatistics,
  inverseFrequency,
  K1,
  type LengthNorm,
  lengthNorm,
  type QueryTerms,
  termWeight,
} from '../term-batch.ts'
import { isWeighedHere, TERMS, type TermsMetadata } from './collections.ts'
import type { Points } from './points.ts'

/** The largest term: in the vector of a chunk it stands for the chunk's length. */
export const LENGTH_TERM = 2 ** 32 - 1
/** Chunks whose terms are remembered, some kilobyte each: one never changes under its key. */
const MAX_REMEMBERED = 8_192

/** How much shorter or longer chunks may have become before they are weighed anew: as a part of their mean length. */
const MAX_DRIFT = 0.005

export type Weights = ReturnType<typeof createWeights>

/** How terms are weighed in a collection of words, by what the document store says of all chunks. */
export function createWeights(about: TermsMetadata, statistics: CorpusStatistics) {
  const own = isWeighedHere(about)
  const idf = (term: number) =>
    // Nobody searches for what stands in its place.
    term === LENGTH_TERM ? 0 : inverseFrequency(statistics.chunks(), statistics.holding(term))

  return {
    /** Whether Qdrant is asked with the weight of each term, instead of weighing it itself. */
    own,
    idf,
    /** The length part that the weights in the collection were reckoned with. */
    kept: lengthNorm(1, about.averageLength),

    /** The length part of today, where it is another one. */
    drifted(): LengthNorm | undefined {
      const [chunks, length] = [statistics.chunks(), statistics.length()]
      if (!own || chunks <= 0 || length <= 0) return undefined
      const drift = Math.abs(length / chunks / about.averageLength - 1)
      return drift > MAX_DRIFT ? lengthNorm(chunks, length) : undefined
    },

    /** What to ask Qdrant for. */
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
 * Scores chunks by BM25 with a length part of today, out of weights that were reckoned with another one. Qdrant is asked
 * for those of the chunks that are not remembered. What is gone keeps the score that it has.
 */
export function createWeigher(points: Pick<Points, 'sparseVectors'>, kept: LengthNorm) {
  const remembered = new Map<number, ChunkTerms>()

  const remember = (key: number, terms: ChunkTerms) => {
    // Set anew, it is the last of the map, whose first is forgotten.
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

/** Turns `termWeight` round. */
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
