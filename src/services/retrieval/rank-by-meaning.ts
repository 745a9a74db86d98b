import type { ChunkIndex, IndexMatch, NearestQuery } from '../../indexes/chunk-index.ts'
import type { DocumentStore, KeyedVectors } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { type Candidate, cosinesTo, fuse } from './fuse.ts'

/** How many of the first hits the question is moved to, and how far: measured, see docs/retrieval-quality.md. */
const FEEDBACK_CHUNKS = 3
const FEEDBACK_WEIGHT = 0.5
/** A filter that leaves no more chunks than this spares the graph, which cannot look among few: all are compared. */
const MOST_COMPARED = 1_024

type Vector = Float32Array<ArrayBuffer>

export interface SearchByMeaning {
  /** The vector of a question, unless the embedder fails. */
  embed: Embedding['query']
  nearest: ChunkIndex['nearest']
  readVectors: DocumentStore['readVectors']
}

export interface RankedByMeaning {
  candidates: Candidate[]
  /** True where a higher limit would find nothing more by meaning. */
  exhausted: boolean
}

/**
 * Fuses what the words found with what is nearest to the question, then once more with what is nearest to
 * the question and its first hits (vector feedback after Rocchio, https://arxiv.org/abs/2108.11044). The
 * index knows vectors by and large only, so each candidate is compared exactly, as the authority has it.
 */
export async function rankByMeaning(
  { nearest, readVectors }: Omit<SearchByMeaning, 'embed'>,
  lexical: readonly IndexMatch[],
  { vector: question, ...among }: NearestQuery,
  signal?: AbortSignal,
): Promise<RankedByMeaning> {
  const { only, limit } = among
  const comparesAll = only !== undefined && only.length <= MOST_COMPARED
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
