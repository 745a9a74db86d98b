import { type LengthNorm, termWeight } from './bm25.ts'
import type { Feedback } from './chunk-index.ts'
import type { QueryTerms, TermBatch } from './term-batch.ts'

// Measured on four judged collections, see docs/retrieval-quality.md.
/** Terms that the feedback adds at most. */
const MOST_TERMS = 30
/** Weight of all added terms together; the query's own weigh 1. */
const ADDED_WEIGHT = 0.5
/** A term that one chunk alone has belongs to that chunk, not to the topic. */
const FEWEST_CHUNKS = 2

interface Statistics {
  norm: LengthNorm
  /** How much a shared term tells, see `inverseFrequency`. */
  rarity: (term: number) => number
}

interface Candidate {
  term: number
  weight: number
}

interface Weight extends Candidate {
  /** The place of the chunk in the feedback. */
  chunk: number
}

/**
 * The query with the terms that its best chunks share, each weighing what BM25 gives it in them: pseudo
 * relevance feedback after Rocchio, whose query keeps its own terms first, https://nlp.stanford.edu/IR-book/html/htmledition/the-rocchio71-algorithm-1.html.
 */
export function expandQuery(
  query: QueryTerms,
  feedback: Feedback,
  statistics: Statistics,
): QueryTerms {
  const added = bestCandidates(feedback, statistics)
  const total = sum(added, ({ weight }) => weight)
  const asked = sum(query.counts, (count) => count)
  if (total === 0 || asked === 0) return query

  const counts = new Map<number, number>()
  query.terms.forEach((term, i) => {
    counts.set(term, (query.counts[i] ?? 0) / asked)
  })
  for (const { term, weight } of added) {
    counts.set(term, (counts.get(term) ?? 0) + (ADDED_WEIGHT * weight) / total)
  }
  return {
    terms: Uint32Array.from(counts.keys()),
    counts: Float32Array.from(counts.values()),
  }
}

function bestCandidates(feedback: Feedback, { norm, rarity }: Statistics): Candidate[] {
  const shared = sharedTerms(feedback.terms)
  const gathered = new Map<number, number>()
  for (const { term, weight, chunk } of weightsIn(feedback, norm)) {
    const counted = weight * (feedback.weights[chunk] ?? 0)
    if (shared.has(term)) gathered.set(term, (gathered.get(term) ?? 0) + counted)
  }
  return [...gathered]
    .map(([term, weight]) => ({ term, weight: weight * rarity(term) }))
    .sort((a, b) => b.weight - a.weight || a.term - b.term)
    .slice(0, MOST_TERMS)
}

/** What BM25 gives each term in each chunk, but for the term's rarity. */
export function* weightsIn({ terms: batch }: Feedback, norm: LengthNorm): Generator<Weight> {
  for (let chunk = 0; chunk < batch.size; chunk++) {
    const length = batch.lengths[chunk] ?? 0
    const to = batch.offsets[chunk + 1] ?? 0
    for (let i = batch.offsets[chunk] ?? 0; i < to; i++) {
      const weight = termWeight(batch.counts[i] ?? 0, length, norm)
      yield { term: batch.terms[i] ?? 0, weight, chunk }
    }
  }
}

/** The terms that feedback may add. */
export function sharedTerms({ terms }: TermBatch): Set<number> {
  const chunks = new Map<number, number>()
  for (const term of terms) chunks.set(term, (chunks.get(term) ?? 0) + 1)
  return new Set([...chunks].flatMap(([term, count]) => (count < FEWEST_CHUNKS ? [] : [term])))
}

function sum<Item>(items: Iterable<Item>, amountOf: (item: Item) => number): number {
  let total = 0
  for (const item of items) total += amountOf(item)
  return total
}
