import type { HybridMatch, HybridRanking, IndexMatch, VectorBatch } from './chunk-index.ts'

// Chosen by measurement, see docs/retrieval-quality.md.
/** What words weigh beside vectors, at first and once the question was moved. */
const LEXICAL_WEIGHTS = { first: 0.5, moved: 0.4 }
/** What the vectors of the first hits weigh beside the question's own, best first. */
const FEEDBACK_WEIGHTS = [1, 1 / 2, 1 / 3, 1 / 4]
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
  const first = fuse(lexical, cosinesTo(vector, known), LEXICAL_WEIGHTS.first)
  const moved = moveTowards(vector, known, first)
  return {
    candidates: fuse(lexical, cosinesTo(moved, known), LEXICAL_WEIGHTS.moved),
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
  cosines: ReadonlyMap<number, number>,
  lexicalWeight: number,
): HybridMatch[] {
  const byWords = new Map(lexical.map(({ key, score }) => [key, score]))
  const highest = Math.max(0, ...byWords.values())
  const min = Math.min(...cosines.values())
  const max = Math.max(...cosines.values())
  const withVectors: HybridMatch[] = Array.from(cosines, ([key, dense]) => {
    const words = byWords.get(key)
    const score =
      lexicalWeight * share(words ?? 0, 0, highest) + (1 - lexicalWeight) * share(dense, min, max)
    return { key, score, ...(words !== undefined && { lexical: words }), dense }
  }).sort((a, b) => b.score - a.score || a.key - b.key)
  const withoutVectors = lexical.filter(({ key }) => !cosines.has(key))
  if (withoutVectors.length === 0) return withVectors
  const places = withVectors.map(({ lexical = 0 }) => lexical).sort((a, b) => b - a)
  const candidates: HybridMatch[] = [
    ...withVectors.map((match, i) => ({ ...match, score: share(places[i] ?? 0, 0, highest) })),
    ...withoutVectors.map(({ key, score }) => {
      return { key, score: share(score, 0, highest), lexical: score }
    }),
  ]
  return candidates.sort((a, b) => b.score - a.score)
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
  const withVectors = ranked.filter(({ dense }) => dense !== undefined)
  const moved = Float32Array.from(question)
  for (const [rank, { key }] of withVectors.slice(0, FEEDBACK_WEIGHTS.length).entries()) {
    const weight = FEEDBACK_WEIGHTS[rank] ?? 0
    const from = (places.get(key) ?? 0) * dimension
    for (let i = 0; i < dimension; i++)
      moved[i] = (moved[i] ?? 0) + weight * (values[from + i] ?? 0)
  }
  // `Math.hypot` takes twice as long.
  const norm = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0))
  return norm > 0 ? moved.map((value) => value / norm) : question
}
