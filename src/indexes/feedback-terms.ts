import type { Feedback, IndexMatch } from './chunk-index.ts'
import { type LengthNorm, type QueryTerms, termWeight } from './term-batch.ts'

// Measured on many judged collections, see docs/retrieval-quality.md.
/** Terms that the feedback adds at most. */
const MAX_TERMS = 40
/** Terms whose idf is looked up, at most: those that weigh most in the best chunks. */
const MAX_CANDIDATES = 64

/** A term of the feedback that the query does not hold. */
interface CandidateTerm {
  term: number
  /** What BM25 gives it in all chunks of the feedback, each counting as much as it is trusted, but for its idf. */
  weight: number
  /** Where it weighs most: the place of the chunk in the feedback, and its weight there. */
  best: { chunk: number; weight: number }
}

interface Weight {
  term: number
  weight: number
  /** The place of the chunk in the feedback. */
  chunk: number
}

/** The terms that feedback may add to a query, heaviest first. */
export function candidateTerms(
  query: QueryTerms,
  feedback: Feedback,
  norm: LengthNorm,
): CandidateTerm[] {
  const asked = new Set(query.terms)
  const candidates = new Map<number, CandidateTerm>()
  for (const { term, weight, chunk } of weightsIn(feedback, norm)) {
    if (asked.has(term)) continue
    const trusted = weight * (feedback.weights[chunk] ?? 0)
    const known = candidates.get(term)
    if (!known) candidates.set(term, { term, weight: trusted, best: { chunk, weight } })
    else {
      known.weight += trusted
      if (weight > known.best.weight) known.best = { chunk, weight }
    }
  }
  return heaviest([...candidates.values()], MAX_CANDIDATES)
}

/** What BM25 gives each term in each chunk, but for the term's idf. */
function* weightsIn({ terms: batch }: Feedback, norm: LengthNorm): Generator<Weight> {
  for (let chunk = 0; chunk < batch.size; chunk++) {
    const length = batch.lengths[chunk] ?? 0
    const to = batch.offsets[chunk + 1] ?? 0
    for (let i = batch.offsets[chunk] ?? 0; i < to; i++) {
      const weight = termWeight(batch.counts[i] ?? 0, length, norm)
      yield { term: batch.terms[i] ?? 0, weight, chunk }
    }
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
  candidates: readonly CandidateTerm[],
  /** See `inverseFrequency`. */
  idf: (candidate: CandidateTerm) => number,
): QueryTerms {
  const weighted = candidates.map((each) => ({ term: each.term, weight: each.weight * idf(each) }))
  const added = heaviest(weighted, MAX_TERMS)
  const total = added.reduce((sum, { weight }) => sum + weight, 0)
  const asked = query.counts.reduce((sum, count) => sum + count, 0)
  const scale = total > 0 ? (share * asked) / total : 0
  return {
    terms: Uint32Array.from(added, ({ term }) => term),
    counts: Float32Array.from(added, ({ weight }) => weight * scale),
  }
}

/** `best` before all others, with a score that says so. */
export function keepFirst(best: number, others: IndexMatch[], limit: number): IndexMatch[] {
  const score = others[0]?.score ?? 0
  return [{ key: best, score }, ...others.filter(({ key }) => key !== best)].slice(0, limit)
}

function heaviest<Term extends { term: number; weight: number }>(
  terms: Term[],
  most: number,
): Term[] {
  return terms.sort((a, b) => b.weight - a.weight || a.term - b.term).slice(0, most)
}
