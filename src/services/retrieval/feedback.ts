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

/** Terms of chunks, in the order of `keys`. */
interface LearnedTerms {
  keys: readonly number[]
  terms: TermBatch
}

/** Returns the terms of the chunks with these keys; omits keys that do not exist. */
type LearnTerms = (keys: readonly number[]) => Promise<LearnedTerms>

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'searchLearning'>
  termsOf: LearnTerms
}

/**
 * Pseudo-relevance feedback: terms of the best chunks that are not in the query raise the score of other chunks that
 * contain them. The best chunk keeps its place, since it is the most likely to be what was asked for. A query that
 * only a few chunks match is searched without feedback: it names something specific, which other terms would only
 * push down.
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
    /** Like the index's own search, but with feedback. */
    search: (query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]> =>
      index.searchLearning?.(query, signal) ?? searchTwice(query, signal),
  }
}

interface Sources {
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/** Reads and analyses chunks, which blocks the event loop for about 50 microseconds per chunk. */
export function analyseChunks({ store, analyser }: Sources): LearnTerms {
  return async (keys) => {
    const chunks = keys.length > 0 ? await store.readChunks(keys) : []
    return {
      keys: chunks.map(({ key }) => key),
      terms: analyser.batch(chunks),
    }
  }
}

/** Maximum number of chunks whose terms are cached, at about 2 kB each. */
const MAX_REMEMBERED = 8_192

/**
 * LRU cache of the terms of the chunks used for feedback: good chunks are found again and again. The chunk of a key
 * never changes, so entries are never stale; a deleted chunk may be used while the index still finds it.
 */
export function createTermMemory() {
  const remembered = new Map<number, ChunkTerms>()
  /** Moves the entry to the end of the map; eviction takes the first. */
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
    /** The cached terms of these keys, in order. */
    recall,
    /** The keys that are not cached; marks the others as used, so that they are not evicted before `recall`. */
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
