import { toUnit } from '../lib/unit-vector.ts'
import type { HybridMatch, HybridRanking, IndexMatch } from './chunk-index.ts'
import { dotProducts, LANES } from './dot-products.ts'
import { byScore } from './ranking.ts'

// Chosen by measurement, see docs/retrieval-quality.md.
/** What words weigh beside vectors, at first and once the question was moved. */
const LEXICAL_WEIGHTS = { first: 0.5, moved: 0.4 }
/** What the vectors of the first hits weigh beside the question's own, best first. */
const FEEDBACK_WEIGHTS = [1, 1 / 2, 1 / 3, 1 / 4]
/** A filter that leaves no more chunks than this spares the graph, which cannot look among few: all are compared. */
const MAX_COMPARED = 1_024

/** Unit vectors, one after another, in the order of `keys`; each as it is, or to be multiplied by its scale. */
export interface ScaledVectors {
  keys: Uint32Array
  /** Length of each. */
  dimension: number
  values: Float32Array | Int8Array
  scales?: Float32Array
}

interface Vectors {
  /** The keys of the `limit` chunks whose vectors are nearest to `vector`, of those in `only` where it is given. */
  nearest(): Promise<readonly number[]> | readonly number[]
  /** The vectors of these chunks, in any order, without those that are not there. */
  read(keys: readonly number[]): Promise<ScaledVectors> | ScaledVectors
}

interface Question {
  vector: Float32Array<ArrayBuffer>
  only?: Uint32Array | undefined
  limit: number
}

/**
 * Fuses what the words found with what is nearest to the question, then orders the same candidates once more by the
 * question moved to its first hits (vector feedback after Rocchio, https://arxiv.org/abs/2108.11044). To search anew
 * with the moved question changes no figure of quality: measured, see docs/retrieval-internals.md.
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
 * One ranking from two, best first: a weighted sum of both scores, each brought to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934).
 * A candidate that the words did not find has a lexical score of 0, as BM25 itself would say of no match. One that has
 * no vector yet keeps the place that its words gave it: those with vectors share their own places out among them.
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
    // What is left has no vector.
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

/** The lowest and the highest. */
function rangeOf(values: Iterable<number>): [min: number, max: number] {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return [min, max]
}

/** Where `value` stands between `min` and `max`; 0 where they are the same. */
function share(value: number, min: number, max: number): number {
  return max > min ? (value - min) / (max - min) : 0
}

/** The cosine of each vector to the unit vector `question`. */
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

/** Towards those of the vectors that have the highest scores. */
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

/** Where the highest scores stand, the best first, of equal ones the lower key. */
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
