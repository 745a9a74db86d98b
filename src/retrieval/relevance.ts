import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import type { SearchMode } from '@agent-server/schemas/query.ts'
import { type Analyser, type QueryTerms, shareOfTerms } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import type { MatchedChunk } from './hydrate.ts'

/** The distinct terms of a chunk. */
export type TermsOfChunk = (chunk: StoredChunk) => Uint32Array

/** Weight of the words next to the cosine in the score that is shown; `fusion.ts` has that of the ranking. */
const SHOWN_WEIGHT = 0.4

/** The maximum number of chunks whose terms are cached, at about 0.5 kB each. */
const MAX_CACHED = 4_096

/**
 * For an index that does not tell which of the question's terms a chunk contains.
 * Keeps the terms of the chunks that were found lately: to analyse the hits takes about as long as to find them, and
 * what stands under the key of a chunk never changes.
 */
export function createTermsOfChunk(analyser: Pick<Analyser, 'batch'>): TermsOfChunk {
  const cache = new Map<number, Uint32Array>()
  return (chunk) => {
    const cached = cache.get(chunk.key)
    if (cached) return cached
    const { terms } = analyser.batch([chunk])
    keepNewest(cache, chunk.key, terms, MAX_CACHED)
    return terms
  }
}

/**
 * The score of each hit, from 0 to 1, comparable between questions; see docs/guides/models.md. Ranking normalises its
 * scores to what one question found, so they cannot be shown: the best hit of a question that nothing answers would
 * score as high as that of any other. The order is that of the ranking: a hit scores at least as high as the next.
 */
export function scoresOf(
  matches: readonly MatchedChunk[],
  query: { terms: QueryTerms; mode: SearchMode },
  termsOf: TermsOfChunk,
): number[] {
  let next = 0
  return matches
    .toReversed()
    .map((each) => (next = Math.max(next, relevanceOf(each, query, termsOf))))
    .reverse()
}

function relevanceOf(
  { chunk, terms: share, dense, rerank }: MatchedChunk,
  { terms, mode }: { terms: QueryTerms; mode: SearchMode },
  termsOf: TermsOfChunk,
): number {
  if (rerank !== undefined) return clamp(rerank)
  const words = () => {
    if (share !== undefined) return share
    const chunkTerms = termsOf(chunk)
    return shareOfTerms(terms, (term) => chunkTerms.includes(term))
  }
  if (dense === undefined) return words()
  if (mode === 'dense') return clamp(dense)
  return SHOWN_WEIGHT * words() + (1 - SHOWN_WEIGHT) * clamp(dense)
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
