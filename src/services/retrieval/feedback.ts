import { hash } from 'node:crypto'
import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { ChunkIndex, Feedback, IndexMatch, IndexQuery } from '../../indexes/chunk-index.ts'
import { keepFirst } from '../../indexes/feedback-terms.ts'
import { joinTermBatches, type TermBatch } from '../../indexes/term-batch.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** The best chunks of a search, which are taken to answer the query. */
export const FEEDBACK_CHUNKS = 8
/** How steeply a chunk's weight falls with its score: a clear winner counts almost alone. */
const STEEPNESS = 5
/** What all added terms weigh beside the query's own. */
const SHARE = 0.5
/** Chunks that are scored again, at least: what stands below them hardly ever came among the best ten. */
export const MIN_RESCORED = 100

/** What feedback learns from a chunk. */
interface ChunkTerms {
  key: number
  /** The same for chunks of the same text. */
  digest: string
  terms: TermBatch
}

/** What is learned from the chunks with these keys, in their order; of those that do not exist nothing. */
type TermsOf = (keys: readonly number[]) => Promise<ChunkTerms[]>

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  termsOf: TermsOf
}

export type WordQuery = Omit<IndexQuery, 'feedback'>

/**
 * Pseudo relevance feedback: what the best chunks say beyond the query raises the score of others that say it, too.
 * The very best one keeps its place, for it is what was asked for where anything is that alone. A query that few
 * chunks match is answered as it is: it names something, and what it does not name would only push it down.
 */
export function createFeedback({ index, termsOf }: Dependencies) {
  return {
    /** The same search as the index's, with feedback. */
    async search(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      const { terms, limit } = query
      const found = await index.search({ ...query, limit: Math.max(limit, MIN_RESCORED) }, signal)
      const [best] = found
      if (!best || found.length < FEEDBACK_CHUNKS) return found.slice(0, limit)
      const chunks = await termsOf(found.slice(0, FEEDBACK_CHUNKS).map(({ key }) => key))
      const feedback = learnFrom(found, chunks)
      return keepFirst(best.key, await index.search({ terms, feedback, limit }, signal), limit)
    },
  }
}

function learnFrom(found: readonly IndexMatch[], chunks: readonly ChunkTerms[]): Feedback {
  const scores = new Map(found.map(({ key, score }) => [key, score]))
  const best = found[0]?.score ?? 0
  // The same chunk in several documents would count for each of them.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.digest, chunk])).values()]
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(({ terms }) => terms)),
    weights: Float32Array.from(distinct, ({ key }) => ((scores.get(key) ?? 0) / best) ** STEEPNESS),
    share: SHARE,
    found: { keys: Uint32Array.from(scores.keys()), scores: Float64Array.from(scores.values()) },
  }
}

/** Chunks whose terms are remembered; one takes about two kilobytes. */
const MAX_REMEMBERED = 8_192

interface Sources {
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/**
 * Reads and analyses chunks, and remembers those last asked for: good chunks are found again and again, and to read
 * and analyse one takes some fifty microseconds of the event loop. A chunk never changes under its key, so nothing is
 * ever out of date; one that was deleted may be learned from while the index still finds it.
 */
export function rememberTerms({ store, analyser }: Sources): TermsOf {
  const remembered = new Map<number, ChunkTerms>()

  const learn = async (keys: readonly number[]): Promise<ChunkTerms[]> => {
    const chunks = keys.length > 0 ? await store.readChunks(keys) : []
    return chunks.map((chunk) => ({
      key: chunk.key,
      digest: hash('sha1', chunk.text, 'base64'),
      terms: analyser.batch([chunk]),
    }))
  }

  return async (keys) => {
    const known = keys.map((key) => remembered.get(key))
    const learned = await learn(keys.filter((_, place) => !known[place]))
    const byKey = new Map(learned.map((chunk) => [chunk.key, chunk]))
    const chunks = keys.flatMap((key, place) => known[place] ?? byKey.get(key) ?? [])
    for (const chunk of chunks) {
      // Set anew, it is the last of the map, whose first is forgotten.
      remembered.delete(chunk.key)
      remembered.set(chunk.key, chunk)
    }
    for (const key of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break
      remembered.delete(key)
    }
    return chunks
  }
}
