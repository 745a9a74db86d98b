import { toUnit } from '../lib/unit-vector.ts'
import type { HybridMatch, HybridRanking, IndexMatch } from './chunk-index.ts'
import { dotProducts, LANES } from './dot-products.ts'
import { byScore } from './ranking.ts'

// Chosen by measurement, see docs/retrieval-quality.md.
/** Weight of the lexical score next to the dense one, at first and after the question was moved. */
const LEXICAL_WEIGHTS = { first: 0.5, moved: 0.4 }
/** Weights of the first hits' vectors relative to the question's own, best hit first. */
const FEEDBACK_WEIGHTS = [1, 1 / 2, 1 / 3, 1 / 4]
/** Up to this many chunks that pass a filter, all are compared: a graph search finds too few of a small set. */
const MAX_COMPARED = 1_024

/** Unit vectors, one after another, in the order of `keys`; each must be multiplied by its scale, if there are any. */
export interface ScaledVectors {
  keys: Uint32Array
  /** Length of each vector. */
  dimension: number
  values: Float32Array | Int8Array
  scales?: Float32Array
}

interface Vectors {
  /** The keys of the `limit` chunks nearest to `vector`, among those in `only` if it is given. */
  nearest(): Promise<readonly number[]> | readonly number[]
  /** The vectors of these chunks, in any order; chunks without a vector are omitted. */
  read(keys: readonly number[]): Promise<ScaledVectors> | ScaledVectors
}

interface Question {
  vector: Float32Array<ArrayBuffer>
  only?: Uint32Array | undefined
  limit: number
}

/**
 * Fuses the lexical matches with the chunks nearest to the question, then reranks the same candidates by the question's
 * vector moved towards its first hits (Rocchio's vector feedback, https://arxiv.org/abs/2108.11044). Searching again
 * with the moved vector does not improve quality: measured, see docs/retrieval-internals.md.
 */
export async function rankHybrid(
  { nearest, read }: Vectors,
  lexical: readonly IndexMatch[],
  { vector, only, limit }: Question,
): Promise<HybridRanking> {
  const comparesAll = only !== undefined && only.length <= MAX_COMPARED
  const near = comparesAll ? [...only] : await nearest()
  const known = await read([...new Set([...lexical.map(({ key }) => key), ...near])])
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const first = fusedScores(byWords, known.keys, cosinesTo(vector, known), LEXICAL_WEIGHTS.first)
  const moved = moveTowards(vector, known, first)
  return {
    candidates: fuse(lexical, known.keys, cosinesTo(moved, known), LEXICAL_WEIGHTS.moved),
    exhausted: lexical.length < limit && (comparesAll || near.length < limit),
  }
}

/**
 * Fuses two rankings into one, best first: a weighted sum of both scores, each normalised to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934).
 * A candidate without a lexical match has a lexical score of 0, which is also its BM25 score. If some candidates have
 * no vector yet, they keep their place in the lexical ranking; those with vectors are reordered among the places that
 * they hold in it.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  keys: Uint32Array,
  cosines: Float64Array,
  lexicalWeight: number,
): HybridMatch[] {
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const scores = fusedScores(byWords, keys, cosines, lexicalWeight)
  const withVectors: HybridMatch[] = []
  for (let place = 0; place < keys.length; place++) {
    const [key = 0, score = 0, dense = 0] = [keys[place], scores[place], cosines[place]]
    const words = byWords.get(key)
    // The entries that remain have no vector.
    byWords.delete(key)
    withVectors.push(
      words === undefined ? { key, score, dense } : { key, score, lexical: words, dense },
    )
  }
  withVectors.sort(byScore)
  if (byWords.size === 0) return withVectors
  const [, highest] = rangeOf(lexical.map(({ score }) => score))
  const places = withVectors.map(({ lexical = 0 }) => lexical).sort((a, b) => b - a)
  const candidates: HybridMatch[] = [
    ...withVectors.map((match, i) => ({ ...match, score: share(places[i] ?? 0, 0, highest) })),
    ...Array.from(byWords, ([key, words]) => {
      return { key, score: share(words, 0, highest), lexical: words }
    }),
  ]
  return candidates.sort((a, b) => b.score - a.score)
}

function fusedScores(
  byWords: ReadonlyMap<number, number>,
  keys: Uint32Array,
  cosines: Float64Array,
  lexicalWeight: number,
): Float64Array {
  const [, highest] = rangeOf(byWords.values())
  const [min, max] = rangeOf(cosines)
  return cosines.map((cosine, place) => {
    const words = share(byWords.get(keys[place] ?? 0) ?? 0, 0, highest)
    return lexicalWeight * words + (1 - lexicalWeight) * share(cosine, min, max)
  })
}

/** The lowest and the highest value; Infinity and -Infinity if there are none. */
function rangeOf(values: Iterable<number>): [min: number, max: number] {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return [min, max]
}

/** `value` normalised to the range from `min` to `max`; 0 if they are equal. */
function share(value: number, min: number, max: number): number {
  return max > min ? (value - min) / (max - min) : 0
}

/** The cosine of each vector with the unit vector `question`. */
export function cosinesTo(
  question: Float32Array,
  { keys, dimension, values, scales }: ScaledVectors,
): Float64Array {
  if (values instanceof Int8Array && dimension % LANES === 0) {
    const products = dotProducts(values, question)
    if (products) return products.map((product, place) => product * (scales?.[place] ?? 1))
  }
  const cosines = new Float64Array(keys.length)
  let at = 0
  for (let place = 0; place < keys.length; place++) {
    let sum = 0
    for (let i = 0; i < dimension; i++) sum += (values[at++] ?? 0) * (question[i] ?? 0)
    cosines[place] = sum * (scales?.[place] ?? 1)
  }
  return cosines
}

/** Moves the question towards the vectors with the highest scores. */
function moveTowards(
  question: Float32Array<ArrayBuffer>,
  { keys, dimension, values, scales }: ScaledVectors,
  scores: Float64Array,
): Float32Array<ArrayBuffer> {
  const best = bestPlaces(scores, keys, FEEDBACK_WEIGHTS.length)
  const moved = Float32Array.from(question)
  for (const [rank, place] of best.entries()) {
    const weight = (FEEDBACK_WEIGHTS[rank] ?? 0) * (scales?.[place] ?? 1)
    const from = place * dimension
    for (let i = 0; i < dimension; i++)
      moved[i] = (moved[i] ?? 0) + weight * (values[from + i] ?? 0)
  }
  return toUnit(moved) ?? question
}

/** Positions of the highest scores, best first; of equal scores the lower key comes first. */
function bestPlaces(scores: Float64Array, keys: Uint32Array, wanted: number): number[] {
  const best: number[] = []
  const isBetter = (a: number, b = -1) => {
    const ahead = (scores[a] ?? 0) - (scores[b] ?? 0)
    return ahead > 0 || (ahead === 0 && (keys[a] ?? 0) < (keys[b] ?? 0))
  }
  for (let place = 0; place < scores.length; place++) {
    let at = best.length
    while (at > 0 && isBetter(place, best[at - 1])) at--
    if (at === wanted) continue
    best.splice(at, 0, place)
    best.length = Math.min(best.length, wanted)
  }
  return best
}
