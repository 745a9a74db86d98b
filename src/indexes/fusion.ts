import { toUnit } from '../lib/unit-vector.ts'
import type { Candidate, Found, IndexMatch } from './chunk-index.ts'
import { byScore, createTopHits } from './ranking.ts'

// Chosen by measurement, see docs/internals/retrieval-quality.md.
/** Weight of the lexical score next to the dense one, where the best match by words is also the nearest to the question. */
export const LEXICAL_WEIGHT = 0.4
/** A question with this many distinct terms is long: it asks about a subject, on which there are many passages. */
const LONG_QUESTION = 7
/** Weight of the lexical score in the choice of the first hits of a long question. */
const FIRST_LEXICAL_WEIGHT = 0.5
/** Among so few candidates, the lowest cosine may not be that of a chunk that has nothing to do with the question. */
const FEW = 8
/** Weights of the first hits' vectors relative to the long question's own, best hit first. */
const FEEDBACK_WEIGHTS = [1, 1 / 2, 1 / 3, 1 / 4]

/** Unit vectors, one after another, in the order of `keys`; each must be multiplied by its scale, if there are any. */
export interface ScaledVectors {
  keys: Uint32Array
  /** Length of each vector. */
  dimension: number
  values: Float32Array | Int8Array
  scales?: Float32Array
}

interface Vectors {
  /** The keys of the `limit` chunks nearest to `vector`. */
  nearest(): Promise<readonly number[]> | readonly number[]
  /** The vectors of these chunks, in any order; chunks without a vector are omitted. */
  read(keys: readonly number[]): Promise<ScaledVectors> | ScaledVectors
}

interface Question {
  vector: Float32Array<ArrayBuffer>
  /** Number of distinct terms. */
  termCount: number
  limit: number
}

/**
 * Fuses the lexical matches with the chunks nearest to the question. The vector of a long question is first moved
 * towards its first hits (Rocchio's vector feedback, https://arxiv.org/abs/2108.11044); that of a short one would be
 * moved away from the one passage that answers it. Searching again with the moved vector was measured and does not improve
 * quality.
 */
export async function rankHybrid(
  { nearest, read }: Vectors,
  lexical: readonly IndexMatch[],
  { vector, termCount, limit }: Question,
): Promise<Omit<Found, 'degraded'>> {
  const near = await nearest()
  const known = await read([...new Set([...lexical.map(({ key }) => key), ...near])])
  const cosines = cosinesTo(vector, known)
  const trust = trustInWords(lexical, known.keys, cosines)
  const isLong = termCount >= LONG_QUESTION
  const moved = isLong && cosinesTo(movedToFirstHits(vector, lexical, known, trust), known)
  return {
    candidates: fuse(lexical, known.keys, moved || cosines, LEXICAL_WEIGHT * trust),
    exhausted: lexical.length < limit && near.length < limit,
  }
}

/**
 * Fuses two rankings into one, best first: a weighted sum of both scores, each normalised to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934). If there are few
 * candidates, their cosines count from 0: of two passages, both about the question, the second is not worth nothing.
 * A candidate without a lexical match has a lexical score of 0, which is also its BM25 score. If some candidates have
 * no vector yet, they keep their place in the lexical ranking; those with vectors are reordered among the places that
 * they hold in it.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  keys: Uint32Array,
  cosines: Float64Array,
  lexicalWeight: number,
): Candidate[] {
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const scores = fusedScores(byWords, keys, cosines, lexicalWeight)
  const withVectors: Candidate[] = []
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
  const candidates: Candidate[] = [
    ...withVectors.map((match, i) => ({ ...match, score: share(places[i] ?? 0, 0, highest) })),
    ...Array.from(byWords, ([key, words]) => {
      return { key, score: share(words, 0, highest), lexical: words }
    }),
  ]
  return candidates.sort((a, b) => b.score - a.score)
}

/**
 * How near a chunk that the words found is to the question, from 0 to 1 among the candidates: the nearest of all, each
 * counting as much as its words. Where a question is in another language than the documents, its words match names at
 * best, in passages about something else.
 */
function trustInWords(
  lexical: readonly IndexMatch[],
  keys: Uint32Array,
  cosines: Float64Array,
): number {
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const { words, meaning } = sharesOf(byWords, keys, cosines)
  return words.reduce((most, score, place) => Math.max(most, score * (meaning[place] ?? 0)), 0)
}

function fusedScores(
  byWords: ReadonlyMap<number, number>,
  keys: Uint32Array,
  cosines: Float64Array,
  lexicalWeight: number,
): Float64Array {
  const { words, meaning } = sharesOf(byWords, keys, cosines)
  return words.map(
    (score, place) => lexicalWeight * score + (1 - lexicalWeight) * (meaning[place] ?? 0),
  )
}

/** The scores of the candidates by words and by meaning, each from 0 to 1. */
function sharesOf(byWords: ReadonlyMap<number, number>, keys: Uint32Array, cosines: Float64Array) {
  const [, highest] = rangeOf(byWords.values())
  const [min, max] = cosineRange(cosines)
  return {
    words: Float64Array.from(keys, (key) => share(byWords.get(key) ?? 0, 0, highest)),
    meaning: cosines.map((cosine) => share(cosine, min, max)),
  }
}

/** The cosines that count as 0 and as 1. */
function cosineRange(cosines: Float64Array): [min: number, max: number] {
  const [min, max] = rangeOf(cosines)
  return [cosines.length > FEW ? min : Math.min(min, 0), max]
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
  const cosines = new Float64Array(keys.length)
  for (let place = 0; place < keys.length; place++) {
    const product = dotProduct(values, place * dimension, question)
    cosines[place] = product * (scales?.[place] ?? 1)
  }
  return cosines
}

/** In two sums, which a processor adds at the same time. */
function dotProduct(
  values: Float32Array | Int8Array,
  start: number,
  question: Float32Array,
): number {
  let [even, odd] = [0, 0]
  for (let i = 0; i < question.length; i += 2) {
    even += (values[start + i] ?? 0) * (question[i] ?? 0)
    odd += (values[start + i + 1] ?? 0) * (question[i + 1] ?? 0)
  }
  return even + odd
}

/** The question, moved towards the vectors of its first hits. */
function movedToFirstHits(
  question: Float32Array<ArrayBuffer>,
  lexical: readonly IndexMatch[],
  known: ScaledVectors,
  trust: number,
): Float32Array<ArrayBuffer> {
  const { keys, dimension, values, scales } = known
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const scores = fusedScores(
    byWords,
    keys,
    cosinesTo(question, known),
    FIRST_LEXICAL_WEIGHT * trust,
  )
  const best = createTopHits(FEEDBACK_WEIGHTS.length)
  for (const [place, score] of scores.entries()) best.offer(place, score)
  const moved = Float32Array.from(question)
  for (const [rank, place] of best.take().keys.entries()) {
    const weight = (FEEDBACK_WEIGHTS[rank] ?? 0) * (scales?.[place] ?? 1)
    const from = place * dimension
    for (let i = 0; i < dimension; i++)
      moved[i] = (moved[i] ?? 0) + weight * (values[from + i] ?? 0)
  }
  return toUnit(moved) ?? question
}
