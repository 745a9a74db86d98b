import type { TopHits } from '../ranking.ts'
import type { LengthNorm } from '../term-batch.ts'
import { MAX_CHUNKS, type Segment } from './segment.ts'

/** A term with its weight: what it adds to a chunk's score is always less than `bound`. */
export interface WeightedTerm {
  bound: number
  /** For each segment, the position among its terms, or -1. */
  positions: readonly number[]
}

/** The postings `[from, to)` of one term in one segment. */
export interface Postings {
  from: number
  to: number
  bound: number
}

/** The postings of the terms in the segment at `place`, in the order of the terms. */
export function postingsIn(
  { offsets }: Segment,
  place: number,
  terms: readonly WeightedTerm[],
): Postings[] {
  const lists: Postings[] = []
  for (const { bound, positions } of terms) {
    const position = positions[place] ?? -1
    if (position < 0) continue
    lists.push({ from: offsets[position] ?? 0, to: offsets[position + 1] ?? 0, bound })
  }
  return lists
}

const scores = new Float64Array(MAX_CHUNKS)
/** The ordinals whose score is not zero. */
const found = new Uint16Array(MAX_CHUNKS)

/**
 * Offers `hits` every chunk of the segment that contains a term. Scores are summed in the order of `lists`, so that equal
 * chunks score the same in every segment.
 */
export function scoreSegment(
  segment: Segment,
  lists: readonly Postings[],
  norm: LengthNorm,
  hits: TopHits,
): void {
  const size = lists.reduce((size, list) => addScores(segment, list, norm, size), 0)
  const { keys, removed } = segment
  for (let i = 0; i < size; i++) {
    const ordinal = found[i] ?? 0
    if (!removed?.[ordinal]) hits.offer(keys[ordinal] ?? 0, scores[ordinal] ?? 0)
    scores[ordinal] = 0
  }
}

/** Adds what a term is worth to the scores; returns how many chunks are found by then. */
function addScores(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  before: number,
): number {
  let size = before
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i] ?? 0
    const score = scores[ordinal] ?? 0
    if (score === 0) found[size++] = ordinal
    const count = counts[i] ?? 0
    scores[ordinal] = score + (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
  }
  return size
}
