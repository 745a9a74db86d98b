import type { HybridMatch, HybridRanking, IndexMatch, VectorBatch } from './chunk-index.ts'

/** What words weigh beside vectors: chosen by measurement, see docs/retrieval-quality.md. */
const LEXICAL_WEIGHT = 0.4
/** How many of the first hits the question is moved to, and how far: measured, see docs/retrieval-quality.md. */
const FEEDBACK_CHUNKS = 3
const FEEDBACK_WEIGHT = 1
/** A filter that leaves no more chunks than this spares the graph, which cannot look among few: all are compared. */
const MAX_COMPARED = 1_024

interface Vectors {
  /** The keys of the `limit` chunks whose vectors are nearest to `vector`, of those in `only` where it is given. */
  nearest(): Promise<readonly number[]> | readonly number[]
  /** The vectors of these chunks, in any order, without those that are not there. */
  read(keys: readonly number[]): Promise<VectorBatch> | VectorBatch
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
  const first = fuse(lexical, cosinesTo(vector, known))
  const moved = moveTowards(vector, known, first)
  return {
    candidates: fuse(lexical, cosinesTo(moved, known)),
    exhausted: lexical.length < limit && (comparesAll || near.length < limit),
  }
}

/**
 * One ranking from two, best first: a weighted sum of both scores, each brought to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934).
 * A candidate that the words did not find has a lexical score of 0, as BM25 itself would say of no match. One that has
 * no vector yet is taken to mean as much as its words say: measured, see docs/retrieval-quality.md.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  cosines: ReadonlyMap<number, number>,
  lexicalWeight: number = LEXICAL_WEIGHT,
): HybridMatch[] {
  let highest = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const { score } of lexical) highest = Math.max(highest, score)
  for (const cosine of cosines.values()) {
    min = Math.min(min, cosine)
    max = Math.max(max, cosine)
  }
  const scoreOf = (byWords: number, byVector: number) =>
    lexicalWeight * share(byWords, 0, highest) + (1 - lexicalWeight) * share(byVector, min, max)

  const candidates: HybridMatch[] = []
  const found = new Set<number>()
  for (const { key, score } of lexical) {
    found.add(key)
    const dense = cosines.get(key)
    const fused = dense === undefined ? share(score, 0, highest) : scoreOf(score, dense)
    candidates.push({ key, score: fused, lexical: score, ...(dense !== undefined && { dense }) })
  }
  for (const [key, dense] of cosines) {
    if (!found.has(key)) candidates.push({ key, score: scoreOf(0, dense), dense })
  }
  return candidates.sort((a, b) => b.score - a.score || a.key - b.key)
}

/** Where `value` stands between `min` and `max`; 0 where they are the same. */
function share(value: number, min: number, max: number): number {
  return max > min ? (value - min) / (max - min) : 0
}

/** The cosine of each vector to the unit vector `question`. */
export function cosinesTo(
  question: Float32Array,
  { keys, dimension, values }: VectorBatch,
): Map<number, number> {
  const cosines = new Map<number, number>()
  let at = 0
  for (const key of keys) {
    let sum = 0
    for (let i = 0; i < dimension; i++) sum += (values[at++] ?? 0) * (question[i] ?? 0)
    cosines.set(key, sum)
  }
  return cosines
}

function moveTowards(
  question: Float32Array<ArrayBuffer>,
  { keys, dimension, values }: VectorBatch,
  ranked: readonly HybridMatch[],
): Float32Array<ArrayBuffer> {
  const places = new Map(Array.from(keys, (key, place) => [key, place]))
  const best = ranked
    .filter(({ dense }) => dense !== undefined)
    .slice(0, FEEDBACK_CHUNKS)
    .map(({ key }) => places.get(key) ?? 0)
  const moved = new Float32Array(question.length)
  let squares = 0
  for (let i = 0; i < question.length; i++) {
    let sum = 0
    for (const place of best) sum += values[place * dimension + i] ?? 0
    const there = (question[i] ?? 0) + (best.length > 0 ? (FEEDBACK_WEIGHT * sum) / best.length : 0)
    moved[i] = there
    squares += there * there
  }
  const norm = Math.sqrt(squares)
  return norm > 0 ? moved.map((value) => value / norm) : question
}
