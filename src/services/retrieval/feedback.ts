import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { ChunkIndex, IndexMatch, WordQuery } from '../../indexes/chunk-index.ts'
import {
  type ChunkTerms,
  FEEDBACK_CHUNKS,
  keepFirst,
  learnFrom,
  MIN_RESCORED,
} from '../../indexes/feedback.ts'
import { chunkOf, type TermBatch } from '../../indexes/term-batch.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** The terms of chunks, in the order of the keys. */
interface LearnedTerms {
  keys: readonly number[]
  terms: TermBatch
}

/** The terms of the chunks with these keys; those that do not exist are left out. */
type LearnTerms = (keys: readonly number[]) => Promise<LearnedTerms>

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'searchLearning'>
  termsOf: LearnTerms
}

/**
 * Pseudo relevance feedback: what the best chunks say beyond the query raises the score of others that say it, too.
 * The very best one keeps its place, for it is what was asked for where anything is that alone. A query that few
 * chunks match is answered as it is: it names something, and what it does not name would only push it down.
 */
export function createFeedback({ index, termsOf }: Dependencies) {
  const memory = createTermMemory()

  const searchTwice = async (query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]> => {
    const { terms, limit } = query
    const found = await index.search({ ...query, limit: Math.max(limit, MIN_RESCORED) }, signal)
    const [best] = found
    if (!best || found.length < FEEDBACK_CHUNKS) return found.slice(0, limit)
    const keys = found.slice(0, FEEDBACK_CHUNKS).map(({ key }) => key)
    memory.add(await termsOf(memory.lacks(keys)))
    const ranking = {
      keys: Uint32Array.from(found, ({ key }) => key),
      scores: Float64Array.from(found, ({ score }) => score),
    }
    const feedback = learnFrom(ranking, memory.recall(keys))
    return keepFirst(best.key, await index.search({ terms, feedback, limit }, signal), limit)
  }

  return {
    /** The same search as the index's, with feedback. */
    search: (query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]> =>
      index.searchLearning?.(query, signal) ?? searchTwice(query, signal),
  }
}

interface Sources {
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/** Reads and analyses chunks, which takes some fifty microseconds of the event loop for each. */
export function analyseChunks({ store, analyser }: Sources): LearnTerms {
  return async (keys) => {
    const chunks = keys.length > 0 ? await store.readChunks(keys) : []
    return {
      keys: chunks.map(({ key }) => key),
      terms: analyser.batch(chunks),
    }
  }
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
    add({ keys, terms }: LearnedTerms): void {
      for (const [i, key] of keys.entries()) set({ key, terms: chunkOf(terms, i) })
      for (const key of remembered.keys()) {
        if (remembered.size <= MAX_REMEMBERED) break
        remembered.delete(key)
      }
    },
  }
}
