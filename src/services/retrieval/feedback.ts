import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { ChunkIndex, IndexMatch, LearnTerms, WordQuery } from '../../indexes/chunk-index.ts'
import {
  createTermMemory,
  FEEDBACK_CHUNKS,
  keepFirst,
  learnFrom,
  MIN_RESCORED,
} from '../../indexes/feedback.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

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
