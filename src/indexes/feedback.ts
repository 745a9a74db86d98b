import { crc32 } from 'node:zlib'
import type { IndexMatch } from './chunk-index.ts'
import { byScore, createTopHits } from './ranking.ts'
import { inverseFrequency, type QueryTerms } from './term-batch.ts'

// Measured on many judged collections, see docs/internals/retrieval-quality.md.
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

/** A match with the terms of its chunk and their BM25 weights, without idf. */
export interface WeighedMatch extends IndexMatch {
  terms: ArrayLike<number>
  weights: ArrayLike<number>
}

/**
 * The most discriminating terms of the first matches, with their weights as additional query terms: pseudo-relevance
 * feedback after Rocchio, https://nlp.stanford.edu/IR-book/html/htmledition/the-rocchio71-algorithm-1.html. The query's
 * own terms get no additional weight: these chunks were chosen because they contain them.
 */
export function addedTerms(
  query: QueryTerms,
  found: readonly WeighedMatch[],
  /** See `inverseFrequency`. */
  idf: (term: number) => number,
  share = SHARE,
): QueryTerms {
  const candidates = heaviestTerms(query, found)
  const heaviest = createTopHits(MAX_TERMS)
  for (const [place, term] of candidates.keys.entries())
    heaviest.offer(term, (candidates.scores[place] ?? 0) * idf(term))
  const { keys: terms, scores: weights } = heaviest.take()
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const asked = query.counts.reduce((sum, count) => sum + count, 0)
  const scale = total > 0 ? (share * asked) / total : 0
  return { terms, counts: Float32Array.from(weights, (weight) => weight * scale) }
}

/** The terms with the highest sums of weights in the first matches, each match weighed by its score. */
function heaviestTerms(query: QueryTerms, found: readonly WeighedMatch[]) {
  const best = found[0]?.score ?? 0
  const asked = new Set(query.terms)
  // A chunk that occurs in several documents must count only once.
  const distinct = new Map(found.slice(0, FEEDBACK_CHUNKS).map((each) => [digestOf(each), each]))
  const sums = new Map<number, number>()
  for (const { score, terms, weights } of distinct.values()) {
    const trust = (score / best) ** STEEPNESS
    for (let i = 0; i < terms.length; i++) {
      const term = terms[i] ?? 0
      if (!asked.has(term)) sums.set(term, (sums.get(term) ?? 0) + trust * (weights[i] ?? 0))
    }
  }
  const heaviest = createTopHits(MAX_CANDIDATES)
  for (const [term, sum] of sums) heaviest.offer(term, sum)
  return heaviest.take()
}

function digestOf({ terms }: WeighedMatch): number {
  return crc32(new Uint8Array(new Uint32Array(terms).buffer))
}

/** As `SHARE`, where the idf is that among the matches, which is much lower. Measured. */
const SHARE_AMONG_MATCHES = 1

/**
 * Feedback for an index that tells how often terms occur in the matches only: reorders all of them, best first, by the
 * terms that the best of them have and the others lack.
 */
export function rescoreByOthers(query: QueryTerms, found: readonly WeighedMatch[]): IndexMatch[] {
  const holding = new Map<number, number>()
  for (const { terms } of found)
    for (const term of Array.from(terms)) holding.set(term, (holding.get(term) ?? 0) + 1)
  const idf = (term: number) => inverseFrequency(found.length, holding.get(term) ?? 0)
  const added = addedTerms(query, found, idf, SHARE_AMONG_MATCHES)
  const gainOf = new Map<number, number>()
  added.terms.forEach((term, i) => {
    gainOf.set(term, (added.counts[i] ?? 0) * idf(term))
  })
  const rescored = found.map(({ key, score, terms, weights }) => {
    const gains = Array.from(terms, (term, i) => (gainOf.get(term) ?? 0) * (weights[i] ?? 0))
    return { key, score: gains.reduce((sum, gain) => sum + gain, score) }
  })
  return rescored.sort(byScore)
}

/** Moves `best` to the front, with the highest score of the others; returns at most `limit` matches. */
export function keepFirst(best: number, others: IndexMatch[], limit: number): IndexMatch[] {
  const score = others[0]?.score ?? 0
  return [{ key: best, score }, ...others.filter(({ key }) => key !== best)].slice(0, limit)
}
