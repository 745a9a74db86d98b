import type { Analyser } from '../../indexes/analyser.ts'
import type { ChunkIndex, Feedback, IndexMatch } from '../../indexes/chunk-index.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { joinTermBatches } from '../ingestion/join-term-batches.ts'
import { rememberTerms } from './remember-terms.ts'

// Measured on four judged collections, see docs/retrieval-quality.md.
/** The best chunks of a first search, which are taken to answer the query. */
export const FEEDBACK_CHUNKS = 8
/** How steeply a chunk's say falls with its score: a clear winner is listened to almost alone. */
const STEEPNESS = 3

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/**
 * The same index, searched twice: the second time also for what the best chunks of the first time have in
 * common. A query that few chunks match is answered by those alone: it names something, and what it does
 * not name would only push it down.
 */
export function withFeedback({ index, store, analyser }: Dependencies): Pick<ChunkIndex, 'search'> {
  const termsOf = rememberTerms(analyser)

  return {
    async search(query, signal) {
      const first = await index.search({ ...query, limit: FEEDBACK_CHUNKS }, signal)
      if (first.length < FEEDBACK_CHUNKS) return first.slice(0, query.limit)
      const chunks = await store.readChunks(first.map(({ key }) => key))
      return index.search({ ...query, feedback: learn(first, chunks, termsOf) }, signal)
    },
  }
}

function learn(
  matches: readonly IndexMatch[],
  chunks: readonly StoredChunk[],
  termsOf: (chunk: StoredChunk) => TermBatch,
): Feedback {
  const scores = new Map(matches.map(({ key, score }) => [key, score]))
  const best = Math.max(...scores.values())
  // The same passage in several documents would pass for agreement between them.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.text, chunk])).values()]
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(termsOf)),
    weights: Float32Array.from(distinct, ({ key }) => ((scores.get(key) ?? 0) / best) ** STEEPNESS),
  }
}
