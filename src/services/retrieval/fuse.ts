import type { ChunkIndex, IndexMatch, NearestQuery } from '../../indexes/chunk-index.ts'
import type { DocumentStore, KeyedVectors } from '../../stores/document-store.ts'

/** What words weigh beside vectors: chosen by measurement, see docs/retrieval-quality.md. */
const LEXICAL_WEIGHT = 0.4
/** How many of the first hits the question is moved to, and how far: measured, see docs/retrieval-quality.md. */
const FEEDBACK_CHUNKS = 3
const FEEDBACK_WEIGHT = 0.5
/** A filter that leaves no more chunks than this spares the graph, which cannot look among few: all are compared. */
const MAX_COMPARED = 1_024

type Vector = Float32Array<ArrayBuffer>

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

export interface Ranked {
  /** Best first. */
  candidates: Candidate[]
  /** True where a higher limit would find nothing more. */
  exhausted: boolean
}

/** A ranking by words alone: their own score is the final one. */
export function lexicalOnly(matches: readonly IndexMatch[], limit: number): Ranked {
  const candidates = matches.map(({ key, score }) => ({ key, score, lexical: score }))
  return { candidates, exhausted: matches.length < limit }
}

export interface DenseSearch {
  nearest: ChunkIndex['nearest']
  readVectors: DocumentStore['readVectors']
}

/**
 * Fuses what the words found with what is nearest to the question, then once more with what is nearest to
 * the question and its first hits (vector feedback after Rocchio, https://arxiv.org/abs/2108.11044). The
 * index knows vectors by and large only, so each candidate is compared exactly, as the document store has it.
 */
export async function rankHybrid(
  { nearest, readVectors }: DenseSearch,
  lexical: readonly IndexMatch[],
  { vector: question, ...among }: NearestQuery,
  signal?: AbortSignal,
): Promise<Ranked> {
  const { only, limit } = among
  const comparesAll = only !== undefined && only.length <= MAX_COMPARED
  const findNear = async (vector: Vector) =>
    comparesAll ? [...only] : keysOf(await nearest({ vector, ...among }, signal))

  const near = await findNear(question)
  const known = await readVectors([...new Set([...keysOf(lexical), ...near])])
  const first = fuse(lexical, cosinesTo(question, known))
  const moved = moveTowards(question, known, first)

  const held = new Set(known.keys)
  const fresh = (await findNear(moved)).filter((key) => !held.has(key))
  const cosines = cosinesTo(moved, known)
  const more = fresh.length > 0 ? cosinesTo(moved, await readVectors(fresh)) : []
  return {
    candidates: fuse(lexical, new Map([...cosines, ...more])),
    exhausted: comparesAll || near.length < limit,
  }
}

/**
 * One ranking from two, best first: a weighted sum of both scores, each brought to the range from 0 to 1
 * among the candidates (a convex combination, Bruch, Gai and Ingber, https://arxiv.org/abs/2210.11934).
 * A candidate that the words did not find has a lexical score of 0, as BM25 itself would say of no match.
 */
export function fuse(
  lexical: readonly IndexMatch[],
  cosines: ReadonlyMap<number, number>,
  lexicalWeight: number = LEXICAL_WEIGHT,
): Candidate[] {
  const bm25 = new Map(lexical.map(({ key, score }) => [key, score]))
  const highest = Math.max(0, ...bm25.values())
  const min = Math.min(...cosines.values())
  const max = Math.max(...cosines.values())
  const candidates = [...new Set([...bm25.keys(), ...cosines.keys()])].map((key): Candidate => {
    const byWords = bm25.get(key)
    const byVector = cosines.get(key)
    const score =
      lexicalWeight * share(byWords ?? 0, 0, highest) +
      (1 - lexicalWeight) * share(byVector ?? min, min, max)
    return {
      key,
      score,
      ...(byWords !== undefined && { lexical: byWords }),
      ...(byVector !== undefined && { dense: byVector }),
    }
  })
  return candidates.sort((a, b) => b.score - a.score || a.key - b.key)
}

/** Where `value` stands between `min` and `max`; 0 where they are the same. */
function share(value: number, min: number, max: number): number {
  return max > min ? (value - min) / (max - min) : 0
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

function moveTowards(
  question: Vector,
  { keys, dimension, values }: KeyedVectors,
  ranked: readonly Candidate[],
): Vector {
  const places = new Map(Array.from(keys, (key, place) => [key, place]))
  const best = ranked.flatMap(({ key }) => places.get(key) ?? []).slice(0, FEEDBACK_CHUNKS)
  const moved = question.map((value, i) => {
    const sum = best.reduce((total, place) => total + (values[place * dimension + i] ?? 0), 0)
    return value + (best.length > 0 ? (FEEDBACK_WEIGHT * sum) / best.length : 0)
  })
  const norm = Math.hypot(...moved)
  return norm > 0 ? moved.map((value) => value / norm) : question
}

function keysOf(matches: readonly IndexMatch[]): number[] {
  return matches.map(({ key }) => key)
}
