import type { ChunkText } from '../../indexes/analyser/analyser.ts'
import { LEXICAL_WEIGHT } from '../../indexes/fusion.ts'
import type { QueryTerms } from '../../indexes/term-batch.ts'
import type { SearchMode } from '../../schemas/query.ts'
import type { FoundChunk } from './hydrate.ts'

export type TermsOfChunk = (chunk: ChunkText) => Iterable<number>

/**
 * The score of each hit, from 0 to 1, comparable between questions; see docs/guides/models.md. Ranking normalises its
 * scores to what one question found, so they cannot be shown: the best hit of a question that nothing answers would
 * score as high as that of any other. The order is that of the ranking: a hit scores at least as high as the next.
 */
export function scoresOf(
  found: readonly FoundChunk[],
  query: { terms: QueryTerms; mode: SearchMode },
  termsOf: TermsOfChunk,
): number[] {
  let next = 0
  return found
    .toReversed()
    .map((each) => (next = Math.max(next, relevanceOf(each, query, termsOf))))
    .reverse()
}

function relevanceOf(
  { chunk, dense, rerank }: FoundChunk,
  { terms, mode }: { terms: QueryTerms; mode: SearchMode },
  termsOf: TermsOfChunk,
): number {
  if (rerank !== undefined) return clamp(rerank)
  const { title, heading, text } = chunk
  const words = () => shareOfWords(terms, new Set(termsOf({ title, heading, text })))
  if (dense === undefined) return words()
  if (mode === 'dense') return clamp(dense)
  return LEXICAL_WEIGHT * words() + (1 - LEXICAL_WEIGHT) * clamp(dense)
}

/** The share of the question's terms, by their weight in it, that a chunk contains. */
function shareOfWords({ terms, counts }: QueryTerms, held: ReadonlySet<number>): number {
  let [all, shared] = [0, 0]
  terms.forEach((term, i) => {
    const count = counts[i] ?? 0
    all += count
    if (held.has(term)) shared += count
  })
  return all > 0 ? shared / all : 0
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
