import type { Feedback, IndexMatch, Ranking } from './chunk-index.ts'
import { createTopHits } from './ranking.ts'
import {
  joinTermBatches,
  type LengthNorm,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from './term-batch.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** Number of best chunks of a search that are assumed relevant. */
export const FEEDBACK_CHUNKS = 8
/** Minimum number of chunks that are rescored: chunks ranked lower hardly ever reach the top ten. */
export const MIN_RESCORED = 100
/** How steeply a chunk's weight falls with its score: a clear winner dominates. */
const STEEPNESS = 5
/** Total weight of the added terms relative to the query's own. */
const SHARE = 0.5
/** Maximum number of terms that feedback adds. */
const MAX_TERMS = 40
/** Maximum number of terms whose idf is looked up: those with the highest weight in the best chunks. */
const MAX_CANDIDATES = 64

export interface ChunkTerms {
  key: number
  /** A batch of this chunk only. */
  terms: TermBatch
}

/** Makes feedback from `chunks`, which are best chunks of the ranking `found`. */
export function learnFrom(found: Ranking, chunks: readonly ChunkTerms[]): Feedback {
  const { keys, scores } = found
  const best = scores[0] ?? 0
  // A chunk that occurs in several documents must count only once.
  const distinct = [...new Map(chunks.map((chunk) => [chunk.terms.digests[0], chunk])).values()]
  const scoreOf = ({ key }: ChunkTerms) => scores[keys.indexOf(key)] ?? 0
  return {
    keys: Uint32Array.from(distinct, ({ key }) => key),
    terms: joinTermBatches(distinct.map(({ terms }) => terms)),
    weights: Float32Array.from(distinct, (chunk) => (scoreOf(chunk) / best) ** STEEPNESS),
    share: SHARE,
    found,
  }
}

/**
 * The terms that feedback may add to a query, heaviest first. Each has the sum of its BM25 weights, without idf, in the
 * chunks of the feedback, multiplied by the weights of these chunks.
 */
export function candidateTerms(query: QueryTerms, feedback: Feedback, norm: LengthNorm): Ranking {
  const asked = new Set(query.terms)
  const heaviest = createTopHits(MAX_CANDIDATES)
  forEachTerm(feedback, norm, (term, weight) => {
    if (!asked.has(term)) heaviest.offer(term, weight)
  })
  return heaviest.take()
}

/** Visits each term of the feedback once, ascending: a merge of the chunks' terms, which are ascending themselves. */
function forEachTerm(
  { terms: batch, weights }: Feedback,
  norm: LengthNorm,
  visit: (term: number, weight: number) => void,
): void {
  const { size, lengths, offsets, terms, counts } = batch
  const next = offsets.slice(0, size)
  /** Infinity at the end of the chunk. */
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
 * The most discriminating candidates, with their weights as additional query terms: pseudo-relevance feedback after
 * Rocchio, https://nlp.stanford.edu/IR-book/html/htmledition/the-rocchio71-algorithm-1.html. The query's own terms get
 * no additional weight: the feedback chunks were chosen because they contain them.
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

/** Moves `best` to the front, with the highest score of the others; returns at most `limit` matches. */
export function keepFirst(best: number, others: IndexMatch[], limit: number): IndexMatch[] {
  const score = others[0]?.score ?? 0
  return [{ key: best, score }, ...others.filter(({ key }) => key !== best)].slice(0, limit)
}
