import type { IndexMatch } from '../../indexes/chunk-index.ts'
import type { KeyedVectors } from '../../stores/document-store.ts'

/** What the words weigh beside the meaning: chosen by measurement, see docs/retrieval-quality.md. */
export const LEXICAL_WEIGHT = 0.4

/** A chunk that may be a hit, with what each stage made of it. */
export interface Candidate {
  key: number
  score: number
  /** BM25; absent where the chunk is not among the best by words. */
  lexical?: number
  /** The cosine to the question, moved towards its first hits; absent where the question was not embedded. */
  dense?: number
  /** What the reranking model made of it; absent where there is none. */
  rerank?: number
}

/** Matches by words alone: their own score is the final one. */
export function lexicalOnly(matches: readonly IndexMatch[]): Candidate[] {
  return matches.map(({ key, score }) => ({ key, score, lexical: score }))
}

/**
 * One ranking from two, best first: a weighted sum of both scores, each brought to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934).
 * A candidate that the words did not find has a lexical score of 0, as BM25 itself would say of no match.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  cosines: ReadonlyMap<number, number>,
  weight: number = LEXICAL_WEIGHT,
): Candidate[] {
  const words = new Map(lexical.map(({ key, score }) => [key, score]))
  const mostWords = Math.max(0, ...words.values())
  const range = rangeOf(cosines.values())
  const candidates = [...new Set([...words.keys(), ...cosines.keys()])].map((key): Candidate => {
    const byWords = words.get(key)
    const byMeaning = cosines.get(key)
    const score =
      weight * share(byWords ?? 0, 0, mostWords) +
      (1 - weight) * share(byMeaning ?? range.least, range.least, range.most)
    return {
      key,
      score,
      ...(byWords !== undefined && { lexical: byWords }),
      ...(byMeaning !== undefined && { dense: byMeaning }),
    }
  })
  return candidates.sort((a, b) => b.score - a.score || a.key - b.key)
}

/** The cosine of each vector to the unit vector `question`. */
export function cosinesTo(
  question: Float32Array,
  { keys, dimension, values }: KeyedVectors,
): Map<number, number> {
  const cosines = new Map<number, number>()
  for (const [position, key] of keys.entries()) {
    let sum = 0
    const start = position * dimension
    for (let i = 0; i < dimension; i++) sum += (values[start + i] ?? 0) * (question[i] ?? 0)
    cosines.set(key, sum)
  }
  return cosines
}

function rangeOf(values: Iterable<number>): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const value of values) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  return { least, most }
}

/** Where `value` stands between `least` and `most`; 0 where they are the same. */
function share(value: number, least: number, most: number): number {
  return most > least ? (value - least) / (most - least) : 0
}
