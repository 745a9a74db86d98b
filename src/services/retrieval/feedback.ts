import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { ChunkIndex, Feedback, IndexMatch, IndexQuery } from '../../indexes/chunk-index.ts'
import { keepFirst } from '../../indexes/feedback-terms.ts'
import { joinTermBatches, type TermBatch } from '../../indexes/term-batch.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** The best chunks of a search, which are taken to answer the query. */
export const FEEDBACK_CHUNKS = 8
/** How steeply a chunk's weight falls with its score: a clear winner counts almost alone. */
const STEEPNESS = 5
/** What all added terms weigh beside the query's own. */
const SHARE = 0.5
/** Chunks that are scored again, at least: what stands below them hardly ever came among the best ten. */
export const MIN_RESCORED = 100

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  store: Pick<DocumentStore, 'readChunks'>
  /** The terms of a chunk. */
  termsOf: (chunk: StoredChunk) => TermBatch
}

export type WordQuery = Omit<IndexQuery, 'feedback'>

/**
 * Pseudo relevance feedback: what the best chunks say beyond the query raises the score of others that say it, too.
 * The very best one keeps its place, for it is what was asked for where anything is that alone. A query that few
 * chunks match is answered as it is: it names something, and what it does not name would only push it down.
 */
export function createFeedback({ index, store, termsOf }: Dependencies) {
  return {
    /** The same search as the index's, with feedback. */
    async search(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      const { terms, limit } = query
      const found = await index.search({ ...query, limit: Math.max(limit, MIN_RESCORED) }, signal)
      const [best] = found
      if (!best || found.length < FEEDBACK_CHUNKS) return found.slice(0, limit)
      const chunks = await store.readChunks(found.slice(0, FEEDBACK_CHUNKS).map(({ key }) => key))
      const feedback = learnFrom(found, chunks, termsOf)
      return keepFirst(best.key, await index.search({ terms, feedback, limit }, signal), limit)
    },
  }
}

function learnFrom(
  found: readonly IndexMatch[],
  chunks: readonly StoredChunk[],
  termsOf: (chunk: StoredChunk) => TermBatch,
): Feedback {
  const scores = new Map(found.map(({ key, score }) => [key, score]))
  const best = found[0]?.score ?? 0
  // The same chunk in several documents would count for each of them.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.text, chunk])).values()]
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(termsOf)),
    weights: Float32Array.from(distinct, ({ key }) => ((scores.get(key) ?? 0) / best) ** STEEPNESS),
    share: SHARE,
    found: { keys: Uint32Array.from(scores.keys()), scores: Float64Array.from(scores.values()) },
  }
}

/** Chunks whose terms are remembered; one takes about two kilobytes. */
const MAX_REMEMBERED = 8_192

/**
 * The terms of single chunks, those last asked for remembered: to analyse a chunk takes some fifty
 * microseconds of the event loop, and good chunks are found again and again. A chunk never changes
 * under its key, so nothing is ever out of date.
 */
export function rememberTerms(
  analyser: Pick<Analyser, 'batch'>,
): (chunk: StoredChunk) => TermBatch {
  const remembered = new Map<number, TermBatch>()

  return (chunk) => {
    const terms = remembered.get(chunk.key) ?? analyser.batch([chunk])
    // Set anew, it is the last of the map, whose first is forgotten.
    remembered.delete(chunk.key)
    remembered.set(chunk.key, terms)
    for (const key of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break
      remembered.delete(key)
    }
    return terms
  }
}
