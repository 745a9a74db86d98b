import type { Feedback, Ranking } from './chunk-index.ts'
import { type LengthNorm, type QueryTerms, termWeight } from './term-batch.ts'
import { createTopHits } from './top-hits.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** Terms that the feedback adds at most. */
const MAX_TERMS = 40
/** Terms whose idf is looked up, at most: those that weigh most in the best chunks. */
const MAX_CANDIDATES = 64

/**
 * The terms that feedback may add to a query, heaviest first, each with what BM25 gives it in all chunks of the
 * feedback, which count as much as they are trusted, but for its idf.
 */
export function candidateTerms(query: QueryTerms, feedback: Feedback, norm: LengthNorm): Ranking {
  const asked = new Set(query.terms)
  const heaviest = createTopHits(MAX_CANDIDATES)
  forEachTerm(feedback, norm, (term, weight) => {
    if (!asked.has(term)) heaviest.offer(term, weight)
  })
  return heaviest.take()
}

/** Each term of the feedback once, ascending: those of each chunk are, so that all are merged as they are read. */
function forEachTerm(
  { terms: batch, weights }: Feedback,
  norm: LengthNorm,
  visit: (term: number, weight: number) => void,
): void {
  const { size, lengths, offsets, terms, counts } = batch
  const next = offsets.slice(0, size)
  /** Infinite at the end of the chunk. */
  const termAt = (chunk: number) => {
    const at = next[chunk] ?? 0
    return at < (offsets[chunk + 1] ?? 0) ? (terms[at] ?? 0) : Number.POSITIVE_INFINITY
  }
  const take = (chunk: number) => {
    const at = next[chunk] ?? 0
    next[chunk] = at + 1
    return termWeight(counts[at] ?? 0, lengths[chunk] ?? 0, norm) * (weights[chunk] ?? 0)
  }
  for (;;) {
    let term = Number.POSITIVE_INFINITY
    for (let chunk = 0; chunk < size; chunk++) term = Math.min(term, termAt(chunk))
    if (term === Number.POSITIVE_INFINITY) return
    let weight = 0
    for (let chunk = 0; chunk < size; chunk++) if (termAt(chunk) === term) weight += take(chunk)
    visit(term, weight)
  }
}

/**
 * The candidates that discriminate most, and how much of each to ask for beside the query: pseudo relevance feedback
 * after Rocchio, https://nlp.stanford.edu/IR-book/html/htmledition/the-rocchio71-algorithm-1.html. The
 * query's own terms gain nothing by it: they have found the chunks that would speak for them.
 */
export function addedTerms(
  query: QueryTerms,
  { share }: Pick<Feedback, 'share'>,
  candidates: Ranking,
  /** See `inverseFrequency`. */
  idf: (term: number) => number,
): QueryTerms {
  const heaviest = createTopHits(MAX_TERMS)
  for (const [place, term] of candidates.keys.entries())
    heaviest.offer(term, (candidates.scores[place] ?? 0) * idf(term))
  const { keys: terms, scores: weights } = heaviest.take()
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const asked = query.counts.reduce((sum, count) => sum + count, 0)
  const scale = total > 0 ? (share * asked) / total : 0
  return { terms, counts: Float32Array.from(weights, (weight) => weight * scale) }
}
