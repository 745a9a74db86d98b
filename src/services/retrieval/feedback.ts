import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { ChunkIndex, Feedback, IndexMatch } from '../../indexes/chunk-index.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { joinTermBatches } from '../ingestion/publish.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** The best chunks of a search, which are taken to answer the query. */
export const FEEDBACK_CHUNKS = 8
/** How steeply a chunk's say falls with its score: a clear winner is listened to almost alone. */
const STEEPNESS = 5
/** What all added terms weigh beside the query's own: less where meaning says the same in its own way. */
const SHARE = { wordsAlone: 0.5, withMeaning: 0.25 }
/** Chunks that are put in a new order, at least: what stands below them hardly ever came among the best ten. */
export const LEAST_REORDERED = 100

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
  /** Whether what is found will be fused with what is found by meaning. */
  fused?: boolean
}

/**
 * The same index, whose answers are put in a new order: what the best chunks say beyond the query lifts
 * others that say it, too. The very best one keeps its place, for it is what was asked for where anything
 * is that alone. A query that few chunks match is answered as it is: it names something, and what it does
 * not name would only push it down.
 */
export function withFeedback(dependencies: Dependencies): Pick<ChunkIndex, 'search'> {
  const { index, store, analyser, fused = false } = dependencies
  const termsOf = rememberTerms(analyser)
  const share = fused ? SHARE.withMeaning : SHARE.wordsAlone

  return {
    async search(query, signal) {
      const limit = Math.max(query.limit, LEAST_REORDERED)
      const found = await index.search({ ...query, limit }, signal)
      const [best] = found
      if (!best || found.length < FEEDBACK_CHUNKS) return found.slice(0, query.limit)
      const chunks = await store.readChunks(found.slice(0, FEEDBACK_CHUNKS).map(({ key }) => key))
      const feedback = { ...learn(found, chunks, termsOf), share }
      const { terms, limit: wanted } = query
      return putFirst(best, await index.search({ terms, feedback, limit: wanted }, signal), wanted)
    },
  }
}

function learn(
  found: readonly IndexMatch[],
  chunks: readonly StoredChunk[],
  termsOf: (chunk: StoredChunk) => TermBatch,
): Omit<Feedback, 'share'> {
  const scores = new Map(found.map(({ key, score }) => [key, score]))
  const best = found[0]?.score ?? 0
  // The same chunk in several documents would count for each of them.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.text, chunk])).values()]
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(termsOf)),
    weights: Float32Array.from(distinct, ({ key }) => ((scores.get(key) ?? 0) / best) ** STEEPNESS),
    found: { keys: Uint32Array.from(scores.keys()), scores: Float64Array.from(scores.values()) },
  }
}

/** `best` before all others, with a score that says so. */
function putFirst({ key: best }: IndexMatch, others: IndexMatch[], limit: number): IndexMatch[] {
  const score = others[0]?.score ?? 0
  return [{ key: best, score }, ...others.filter(({ key }) => key !== best)].slice(0, limit)
}

/** Two generations of this many chunks are kept; one takes about two kilobytes. */
const KEPT_CHUNKS = 4_096

/**
 * The terms of single chunks, the latest ones remembered: to analyse a chunk takes some fifty
 * microseconds of the event loop, and good chunks are found again and again. A chunk never changes
 * under its key, so nothing is ever out of date.
 */
export function rememberTerms(
  analyser: Pick<Analyser, 'batch'>,
): (chunk: StoredChunk) => TermBatch {
  let young = new Map<number, TermBatch>()
  let old = new Map<number, TermBatch>()

  return (chunk) => {
    const known = young.get(chunk.key)
    if (known) return known
    const terms = old.get(chunk.key) ?? analyser.batch([chunk])
    if (young.size >= KEPT_CHUNKS) {
      old = young
      young = new Map()
    }
    young.set(chunk.key, terms)
    return terms
  }
}
