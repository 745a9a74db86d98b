import { lowerBound } from '@agent-server/lib/lower-bound.ts'
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

/** Cost of looking up one chunk in a postings list, in units of one posting read sequentially. */
const LOOKUP_COST = 16
/** Ratio of list length to number of candidates above which it pays to raise the threshold and prune first. */
const LONG_LIST = 2

/** Number of buckets of the score histogram by which a threshold is estimated. */
const STEPS = 1_024
/** Factor that lowers the threshold by more than the possible rounding error. */
const ROUNDED_DOWN = 1 - 1e-9

const scores = new Float64Array(MAX_CHUNKS)
/** The ordinals whose score is not zero. */
const candidates = new Uint16Array(MAX_CHUNKS)
/** The score histogram: number of candidates per bucket. */
const tallies = new Uint32Array(STEPS)

/**
 * Offers `hits` every chunk of the segment that may be among the best. Once the remaining lists cannot lift a new chunk
 * over the threshold, only the existing candidates are scored with them (MaxScore, Turtle and Flood 1995). Scores are
 * summed in the order of `lists`, so that equal chunks score the same in every segment.
 */
export function scoreSegment(
  segment: Segment,
  lists: readonly Postings[],
  norm: LengthNorm,
  hits: TopHits,
): void {
  const rests = restsOf(lists)
  let threshold = hits.threshold()
  let size = 0
  lists.forEach((list, i) => {
    const rest = rests[i] ?? 0
    const length = list.to - list.from
    if (size > 0 && length > LONG_LIST * size) {
      threshold = Math.max(threshold, thresholdOf(segment, size, hits.limit))
      size = dropBelow(threshold - rest, size)
    }
    const isOpen = rest >= threshold
    if (isOpen || length < LOOKUP_COST * size)
      size = addByReading(segment, list, norm, size, isOpen)
    else addByLookup(segment, list, norm, size)
  })
  offerCandidates(segment, size, hits)
}

/** For each list, an upper bound of what it and the following lists can add to a score. */
function restsOf(lists: readonly Postings[]): number[] {
  let sum = 0
  return lists
    .toReversed()
    .map(({ bound }) => (sum += bound))
    .reverse()
}

/**
 * A score that at least `limit` live candidates, and hardly more, reach; -Infinity if there are fewer. Uses a
 * histogram, which is much faster than sorting.
 */
function thresholdOf(segment: Segment, size: number, limit: number): number {
  const steps = tally(segment, size)
  let remaining = limit
  for (let step = STEPS - 1; step >= 0; step--) {
    remaining -= tallies[step] ?? 0
    if (remaining <= 0) return (step / steps) * ROUNDED_DOWN
  }
  return Number.NEGATIVE_INFINITY
}

/** Fills `tallies`; returns the number of buckets per unit of score. */
function tally({ removed }: Segment, size: number): number {
  let highest = 0
  for (let i = 0; i < size; i++) highest = Math.max(highest, scores[candidates[i] ?? 0] ?? 0)
  const steps = (STEPS - 1) / highest
  tallies.fill(0)
  for (let i = 0; i < size; i++) {
    const ordinal = candidates[i] ?? 0
    if (removed?.[ordinal]) continue
    const step = Math.trunc((scores[ordinal] ?? 0) * steps)
    tallies[step] = (tallies[step] ?? 0) + 1
  }
  return steps
}

function dropBelow(threshold: number, size: number): number {
  let remaining = 0
  for (let i = 0; i < size; i++) {
    const ordinal = candidates[i] ?? 0
    if ((scores[ordinal] ?? 0) < threshold) scores[ordinal] = 0
    else candidates[remaining++] = ordinal
  }
  return remaining
}

/** Reads the whole list; adds new candidates only if `isOpen`. Returns the number of candidates. */
function addByReading(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  initialSize: number,
  isOpen: boolean,
): number {
  let size = initialSize
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i] ?? 0
    const score = scores[ordinal] ?? 0
    if (score === 0) {
      if (!isOpen) continue
      candidates[size++] = ordinal
    }
    const count = counts[i] ?? 0
    scores[ordinal] = score + (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
  }
  return size
}

/** Looks up every candidate in the list. */
function addByLookup(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  size: number,
): void {
  for (let i = 0; i < size; i++) {
    const ordinal = candidates[i] ?? 0
    const position = lowerBound(ordinals, ordinal, from, to)
    if (position === to || ordinals[position] !== ordinal) continue
    const count = counts[position] ?? 0
    const part = (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
    scores[ordinal] = (scores[ordinal] ?? 0) + part
  }
}

function offerCandidates(segment: Segment, size: number, hits: TopHits): void {
  const { keys, removed } = segment
  const least = size > hits.limit ? thresholdOf(segment, size, hits.limit) : 0
  const threshold = Math.max(least, hits.threshold())
  for (let i = 0; i < size; i++) {
    const ordinal = candidates[i] ?? 0
    const score = scores[ordinal] ?? 0
    scores[ordinal] = 0
    if (score >= threshold && !removed?.[ordinal]) hits.offer(keys[ordinal] ?? 0, score)
  }
}
