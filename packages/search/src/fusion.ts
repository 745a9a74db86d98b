import { toUnit } from '@agent-server/lib/unit-vector.ts'
import type { Candidate, IndexMatch, SearchResult } from './chunk-index.ts'
import { byScore } from './ranking.ts'

// Chosen by measurement, see docs/internals/retrieval-quality.md.
/** Weight of the lexical score, the rest being the cosine's, both as standard scores. */
const LEXICAL_WEIGHT = 0.3
/** A question with this many distinct terms is long: it is about a subject, which many passages treat. */
const LONG_QUESTION = 6
/** Weights of the first hits' vectors relative to the long question's own, best hit first. */
const FIRST_HIT_WEIGHTS = [0.2, 0.1, 0.07, 0.05]
/** Among so few candidates, the mean may not be the score of an irrelevant chunk. */
const FEW = 8

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
 * Fuses the lexical matches with the chunks nearest to the question. The vector of a long question is then moved
 * towards its first hits (Rocchio's vector feedback, https://arxiv.org/abs/2108.11044); that of a short one would be
 * moved away from the one passage that answers it. Searching again with the moved vector was measured and does not improve
 * quality.
 */
export async function rankHybrid(
  { nearest, read }: Vectors,
  lexical: readonly IndexMatch[],
  { vector, termCount, limit }: Question,
): Promise<Omit<SearchResult, 'degraded'>> {
  const near = await nearest()
  const vectors = await read([...new Set([...lexical.map(({ key }) => key), ...near])])
  const fusedFor = (question: Float32Array) =>
    fuse(lexical, vectors.keys, cosinesTo(question, vectors), limit)
  const candidates = fusedFor(vector)
  return {
    candidates:
      termCount < LONG_QUESTION ? candidates : fusedFor(movedToFirst(candidates, vector, vectors)),
    exhausted: lexical.length < limit && near.length < limit,
  }
}

/**
 * Fuses two rankings into one, best first: a weighted sum of both standard scores among the candidates. The lexical
 * score thus counts the more, the further its best matches stand out: much for a rare name, little for words that
 * every passage has. If some candidates have no vector yet, they keep their place in the lexical ranking; those with
 * vectors are reordered among the places that they hold in it.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  keys: Uint32Array,
  cosines: Float64Array,
  limit: number,
): Candidate[] {
  const lexicalScores = new Map(lexical.map(({ key, score }) => [key, score]))
  // A chunk outside of the best `limit` scores between 0 and the last of them.
  const unlisted = lexical.length < limit ? 0 : (lexical.at(-1)?.score ?? 0) / 2
  const byTerms = standardScores(
    Float64Array.from(keys, (key) => lexicalScores.get(key) ?? unlisted),
  )
  const byVectors = standardScores(cosines)
  const withVectors: Candidate[] = []
  for (let place = 0; place < keys.length; place++) {
    const [key = 0, dense = 0] = [keys[place], cosines[place]]
    const score =
      LEXICAL_WEIGHT * (byTerms[place] ?? 0) + (1 - LEXICAL_WEIGHT) * (byVectors[place] ?? 0)
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

/** How many standard deviations each score is above the mean; all are 0 if they are equal. */
function standardScores(scores: Float64Array): Float64Array {
  const mean = scores.length > FEW ? meanOf(scores) : 0
  const deviations = scores.map((score) => score - mean)
  const spread = Math.sqrt(meanOf(deviations.map((deviation) => deviation ** 2)))
  return deviations.map((deviation) => (spread > 0 ? deviation / spread : 0))
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The cosine of each vector with the unit vector `question`. */
export function cosinesTo(
  question: Float32Array,
  { keys, dimension, values, scales }: ScaledVectors,
): Float64Array {
  const cosines = new Float64Array(keys.length)
  for (let place = 0; place < keys.length; place++) {
    let product = 0
    for (let i = 0; i < dimension; i++)
      product += (values[place * dimension + i] ?? 0) * (question[i] ?? 0)
    cosines[place] = product * (scales?.[place] ?? 1)
  }
  return cosines
}

/** The question, moved towards the vectors of its first hits. */
function movedToFirst(
  candidates: readonly Candidate[],
  question: Float32Array<ArrayBuffer>,
  { keys, dimension, values, scales }: ScaledVectors,
): Float32Array<ArrayBuffer> {
  const vector = Float32Array.from(question)
  const withVectors = candidates.filter(({ dense }) => dense !== undefined)
  for (const [rank, share] of FIRST_HIT_WEIGHTS.entries()) {
    const hit = withVectors[rank]
    if (!hit) break
    const place = keys.indexOf(hit.key)
    const weight = share * (scales?.[place] ?? 1)
    const from = place * dimension
    for (let i = 0; i < dimension; i++)
      vector[i] = (vector[i] ?? 0) + weight * (values[from + i] ?? 0)
  }
  return toUnit(vector) ?? question
}
