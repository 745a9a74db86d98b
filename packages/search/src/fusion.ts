import { toUnit } from '@agent-server/lib/unit-vector.ts'
import type { Candidate, IndexMatch, SearchResult } from './chunk-index.ts'
import { dotProducts, LANES } from './dot-products.ts'
import { byScore, createTopHits } from './ranking.ts'
import type { QueryTerms } from './term-batch.ts'

// Chosen by measurement, see docs/internals/retrieval-quality.md.
/** Weight of the lexical score, the rest being the cosine's, both as standard scores. */
const LEXICAL_WEIGHT = 0.3
/** A question with this many distinct terms is long: it is about a subject, which many passages treat. */
const LONG_QUESTION = 6
/** Weights of the first hits' vectors relative to the long question's own, best hit first. */
const FIRST_HIT_WEIGHTS = [0.2, 0.1, 0.07, 0.05]
/** Among so few candidates, the mean may not be the score of an irrelevant chunk. */
const FEW = 8
/**
 * What a chunk gains that has every word of the question and whose lexical score is so many standard deviations above
 * the mean. Where all are about equally near in meaning, nothing else would put it first; one that only happens to have
 * the words, far apart, does not stand out.
 */
const EVERY_WORD = { gain: 2, above: 3.5 }
/** In how many of the best lexical matches every word is looked for: no more than one in thirteen stands out so much. */
const LOOKED_INTO = 16

/** Unit vectors, one after another; each must be multiplied by its scale, if there are any. */
export interface ScaledVectors {
  keys: Uint32Array
  /** Where the vector and the scale of each key stand among all; in the order of `keys` if absent. */
  rows?: Uint32Array
  /** Length of each vector. */
  dimension: number
  values: Float32Array | Int8Array
  scales?: Float32Array
}

interface Chunks {
  /** The keys of the `limit` chunks nearest to `vector`. */
  nearest(): Promise<readonly number[]> | readonly number[]
  /** The vectors of these chunks, in any order; chunks without a vector are omitted. */
  read(keys: readonly number[]): Promise<ScaledVectors> | ScaledVectors
  /** The share of the question's terms that each of these chunks contains; NaN for an unknown key. */
  shares(keys: Uint32Array<ArrayBuffer>): Promise<Float64Array> | Float64Array
}

interface Question {
  vector: Float32Array<ArrayBuffer>
  terms: Pick<QueryTerms, 'terms' | 'total'>
  limit: number
}

/**
 * Fuses the lexical matches with the chunks nearest to the question. The vector of a long question is then moved
 * towards its first hits (Rocchio's vector feedback, https://arxiv.org/abs/2108.11044); that of a short one would be
 * moved away from the one passage that answers it. Searching again with the moved vector was measured and does not improve
 * quality.
 */
export async function rankHybrid(
  { nearest, read, shares }: Chunks,
  lexical: readonly IndexMatch[],
  { vector, terms, limit }: Question,
): Promise<Omit<SearchResult, 'degraded'>> {
  // Where some terms stand for others, no share tells whether a chunk has every word.
  const lookedInto = terms.total === undefined ? lexical.slice(0, LOOKED_INTO) : []
  const first = Uint32Array.from(lookedInto, ({ key }) => key)
  const [near, held] = await Promise.all([nearest(), shares(first)])
  const words = wordsOf(
    lexical,
    limit,
    first.filter((_, place) => held[place] === 1),
  )
  const vectors = await read([...new Set([...lexical.map(({ key }) => key), ...near])])
  let cosines = cosinesTo(vector, vectors)
  if (terms.terms.length >= LONG_QUESTION) {
    const scores = fusedScores(words, vectors.keys, cosines)
    cosines = cosinesTo(movedToFirst(scores, vector, vectors), vectors)
  }
  return {
    candidates: fuse(words, vectors.keys, cosines),
    exhausted: lexical.length < limit && near.length < limit,
  }
}

/** What the words say of the chunks. */
interface Words {
  /** The BM25 scores of the lexical matches. */
  scores: ReadonlyMap<number, number>
  /** That of a chunk outside of the best `limit`, which is between 0 and that of the last of them. */
  unlisted: number
  /** The keys of those of the best lexical matches that have every word of the question. */
  complete: ReadonlySet<number>
}

export function wordsOf(
  lexical: readonly IndexMatch[],
  limit: number,
  complete: Iterable<number>,
): Words {
  return {
    scores: new Map(lexical.map(({ key, score }) => [key, score])),
    unlisted: lexical.length < limit ? 0 : (lexical.at(-1)?.score ?? 0) / 2,
    complete: new Set(complete),
  }
}

/**
 * Fuses two rankings into one, best first: a weighted sum of both standard scores among the candidates. The lexical
 * score thus counts the more, the further its best matches stand out: much for a rare name, little for words that
 * every passage has. If some candidates have no vector yet, they keep their place in the lexical ranking; those with
 * vectors are reordered among the places that they hold in it.
 */
export function fuse(words: Words, keys: Uint32Array, cosines: Float64Array): Candidate[] {
  const scores = fusedScores(words, keys, cosines)
  const lexicalScores = new Map(words.scores)
  const withVectors: Candidate[] = []
  for (let place = 0; place < keys.length; place++) {
    const [key = 0, dense = 0, score = 0] = [keys[place], cosines[place], scores[place]]
    const lexicalScore = lexicalScores.get(key)
    // The entries that remain have no vector.
    lexicalScores.delete(key)
    withVectors.push(
      lexicalScore === undefined
        ? { key, score, dense }
        : { key, score, lexical: lexicalScore, dense },
    )
  }
  withVectors.sort(byScore)
  if (lexicalScores.size === 0) return withVectors
  const places = withVectors.map(({ lexical = 0 }) => lexical).sort((a, b) => b - a)
  const candidates: Candidate[] = [
    ...withVectors.map((match, i) => ({ ...match, score: places[i] ?? 0 })),
    ...Array.from(lexicalScores, ([key, score]) => ({ key, score, lexical: score })),
  ]
  return candidates.sort((a, b) => b.score - a.score)
}

/** The weighted sum of both standard scores of each key, and what it gains. */
function fusedScores(
  { scores: lexical, unlisted, complete }: Words,
  keys: Uint32Array,
  cosines: Float64Array,
): Float64Array {
  const scores = new Float64Array(keys.length)
  for (const [place, key] of keys.entries()) scores[place] = lexical.get(key) ?? unlisted
  const byTerms = standardise(scores)
  const byVectors = standardise(cosines)
  for (const [place, key] of keys.entries()) {
    const ofTerms = byTerms(scores[place])
    const gains = ofTerms >= EVERY_WORD.above && complete.has(key)
    scores[place] =
      LEXICAL_WEIGHT * ofTerms +
      (1 - LEXICAL_WEIGHT) * byVectors(cosines[place]) +
      (gains ? EVERY_WORD.gain : 0)
  }
  return scores
}

/** Tells how many standard deviations a score is above the mean; 0 if all are equal. */
function standardise(scores: Float64Array): (score: number | undefined) => number {
  let sum = 0
  for (const score of scores) sum += score
  const mean = scores.length > FEW ? sum / scores.length : 0
  let squares = 0
  for (const score of scores) squares += (score - mean) ** 2
  const spread = Math.sqrt(squares / scores.length)
  return (score = mean) => (spread > 0 ? (score - mean) / spread : 0)
}

/** The cosine of each vector with the unit vector `question`. */
export function cosinesTo(question: Float32Array, vectors: ScaledVectors): Float64Array {
  const rows = rowsOf(vectors)
  const cosines = productsWith(question, rows, vectors)
  for (const [place, row] of rows.entries())
    cosines[place] = (cosines[place] ?? 0) * scaleAt(vectors.scales, row)
  return cosines
}

function productsWith(
  question: Float32Array,
  rows: Uint32Array,
  { dimension, values }: ScaledVectors,
): Float64Array {
  if (values instanceof Int8Array && dimension % LANES === 0) {
    const products = dotProducts(values, rows, question)
    if (products) return products
  }
  const products = new Float64Array(rows.length)
  for (const [place, row] of rows.entries()) {
    const from = row * dimension
    let product = 0
    for (let i = 0; i < dimension; i++) product += (values[from + i] ?? 0) * (question[i] ?? 0)
    products[place] = product
  }
  return products
}

const rowsOf = ({ keys, rows }: ScaledVectors) => rows ?? keys.map((_, place) => place)

const scaleAt = (scales: Float32Array | undefined, row = 0) => scales?.[row] ?? 1

/** The question, moved towards the vectors of its first hits. */
function movedToFirst(
  scores: Float64Array,
  question: Float32Array<ArrayBuffer>,
  vectors: ScaledVectors,
): Float32Array<ArrayBuffer> {
  const { keys, dimension, values, scales } = vectors
  const rows = rowsOf(vectors)
  const first = createTopHits(FIRST_HIT_WEIGHTS.length)
  for (const [place, key] of keys.entries()) first.offer(key, scores[place] ?? 0)
  const vector = Float32Array.from(question)
  for (const [rank, key] of first.take().keys.entries()) {
    const row = rows[keys.indexOf(key)] ?? 0
    const weight = (FIRST_HIT_WEIGHTS[rank] ?? 0) * scaleAt(scales, row)
    const from = row * dimension
    for (let i = 0; i < dimension; i++)
      vector[i] = (vector[i] ?? 0) + weight * (values[from + i] ?? 0)
  }
  return toUnit(vector) ?? question
}
