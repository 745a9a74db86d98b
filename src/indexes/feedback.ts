import type { Feedback, IndexMatch, LearnedTerms, Ranking } from './chunk-index.ts'
import { chunkOf, joinTermBatches, type TermBatch } from './term-batch.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** The best chunks of a search, which are taken to answer the query. */
export const FEEDBACK_CHUNKS = 8
/** Chunks that are scored again, at least: what stands below them hardly ever came among the best ten. */
export const MIN_RESCORED = 100
/** How steeply a chunk's weight falls with its score: a clear winner counts almost alone. */
const STEEPNESS = 5
/** What all added terms weigh beside the query's own. */
const SHARE = 0.5

interface ChunkTerms {
  key: number
  digest: string
  /** Of this chunk alone. */
  terms: TermBatch
}

/** What the best chunks of a ranking have to say; those that are not among `chunks` are passed over. */
export function learnFrom(found: Ranking, chunks: readonly ChunkTerms[]): Feedback {
  const { keys, scores } = found
  const best = scores[0] ?? 0
  // The same chunk in several documents would count for each of them.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.digest, chunk])).values()]
  const scoreOf = ({ key }: ChunkTerms) => scores[keys.indexOf(key)] ?? 0
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(({ terms }) => terms)),
    weights: Float32Array.from(distinct, (chunk) => (scoreOf(chunk) / best) ** STEEPNESS),
    share: SHARE,
    found,
  }
}

/** `best` before all others, with a score that says so. */
export function keepFirst(best: number, others: IndexMatch[], limit: number): IndexMatch[] {
  const score = others[0]?.score ?? 0
  return [{ key: best, score }, ...others.filter(({ key }) => key !== best)].slice(0, limit)
}

/** Chunks whose terms are remembered; one takes about two kilobytes. */
const MAX_REMEMBERED = 8_192

/**
 * The terms of the chunks last learned from: good chunks are found again and again. A chunk never changes under its
 * key, so nothing is ever out of date; one that was deleted may be learned from while the index still finds it.
 */
export function createTermMemory() {
  const remembered = new Map<number, ChunkTerms>()
  /** Set anew, it is the last of the map, whose first is forgotten. */
  const set = (chunk: ChunkTerms) => {
    remembered.delete(chunk.key)
    remembered.set(chunk.key, chunk)
  }
  const recall = (keys: readonly number[]): ChunkTerms[] => {
    const chunks = keys.flatMap((key) => remembered.get(key) ?? [])
    for (const chunk of chunks) set(chunk)
    return chunks
  }

  return {
    /** What it knows of these, in their order. */
    recall,
    /** Those of which it knows nothing; the others it keeps until they are recalled. */
    lacks(keys: readonly number[]): number[] {
      recall(keys)
      return keys.filter((key) => !remembered.has(key))
    },
    add({ keys, digests, terms }: LearnedTerms): void {
      for (const [i, key] of keys.entries())
        set({ key, digest: digests[i] ?? '', terms: chunkOf(terms, i) })
      for (const key of remembered.keys()) {
        if (remembered.size <= MAX_REMEMBERED) break
        remembered.delete(key)
      }
    },
  }
}
