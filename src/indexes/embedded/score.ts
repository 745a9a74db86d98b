import { lowerBound } from '../../lib/lower-bound.ts'
import type { TopHits } from '../ranking.ts'
import type { LengthNorm } from '../term-batch.ts'
import { MAX_CHUNKS, type Segment } from './segment.ts'

/** A term and what it is worth: what it adds to the score of a chunk is always below `bound`. */
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

/** The postings that the segment at `place` has of the terms, in their order. */
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

/** What finding one chunk among postings costs, in postings read one after another. */
const LOOKUP_COST = 16
/** A list that is so many times as long as there are candidates is worth a look at how good they are already. */
const LONG_LIST = 2

/** How finely candidates are told apart by their scores, before the best of them are put in order. */
const STEPS = 1_024
/** Takes more off a score than dividing and multiplying may have added to it. */
const ROUNDED_DOWN = 1 - 1e-9

const scores = new Float64Array(MAX_CHUNKS)
/** The ordinals whose score is not zero. */
const candidates = new Uint16Array(MAX_CHUNKS)
/** How many candidates score so high, in steps. */
const tallies = new Uint32Array(STEPS)

/**
 * Offers `hits` every chunk of the segment that may be among the best. Once the lists to come cannot lift a
 * new chunk over the threshold, they are only asked about the candidates there are (MaxScore, Turtle and
 * Flood 1995). Scores add up in the order of `lists`, so that equal chunks score the same in every segment.
 */
export function scoreSegment(
  segment: Segment,
  lists: readonly Postings[],
  norm: LengthNorm,
  hits: TopHits,
): void {
  const rests = restsOf(lists)
  let threshold = hits.threshold()
  let found = 0
  lists.forEach((list, i) => {
    const rest = rests[i] ?? 0
    const length = list.to - list.from
    if (found > 0 && length > LONG_LIST * found) {
      threshold = Math.max(threshold, thresholdOf(segment, found, hits.limit))
      found = dropBelow(threshold - rest, found)
    }
    const isOpen = rest >= threshold
    if (isOpen || length < LOOKUP_COST * found)
      found = addByReading(segment, list, norm, found, isOpen)
    else addByLookup(segment, list, norm, found)
  })
  offerCandidates(segment, found, hits)
}

/** For each list, the most that it and those after it can add. */
function restsOf(lists: readonly Postings[]): number[] {
  let sum = 0
  return lists
    .toReversed()
    .map(({ bound }) => (sum += bound))
    .reverse()
}

/**
 * What at least `limit` live candidates score, and hardly more do: they are counted by how high they score, which takes
 * a part of the time of putting the best in order.
 */
function thresholdOf(segment: Segment, found: number, limit: number): number {
  const steps = tally(segment, found)
  let left = limit
  for (let step = STEPS - 1; step >= 0; step--) {
    left -= tallies[step] ?? 0
    if (left <= 0) return (step / steps) * ROUNDED_DOWN
  }
  return Number.NEGATIVE_INFINITY
}

/** Fills `tallies`, and answers how many steps a score of 1 has. */
function tally({ removed }: Segment, found: number): number {
  let highest = 0
  for (let i = 0; i < found; i++) highest = Math.max(highest, scores[candidates[i] ?? 0] ?? 0)
  const steps = (STEPS - 1) / highest
  tallies.fill(0)
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    if (removed?.[ordinal]) continue
    const step = Math.trunc((scores[ordinal] ?? 0) * steps)
    tallies[step] = (tallies[step] ?? 0) + 1
  }
  return steps
}

function dropBelow(threshold: number, found: number): number {
  let kept = 0
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    if ((scores[ordinal] ?? 0) < threshold) scores[ordinal] = 0
    else candidates[kept++] = ordinal
  }
  return kept
}

/** Reads the whole list: what is no candidate yet becomes one, or is passed over. Answers how many there are. */
function addByReading(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  alreadyFound: number,
  isOpen: boolean,
): number {
  let found = alreadyFound
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i] ?? 0
    const score = scores[ordinal] ?? 0
    if (score === 0) {
      if (!isOpen) continue
      candidates[found++] = ordinal
    }
    const count = counts[i] ?? 0
    scores[ordinal] = score + (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
  }
  return found
}

/** Looks every candidate up in the list. */
function addByLookup(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  found: number,
): void {
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    const position = lowerBound(ordinals, ordinal, from, to)
    if (position === to || ordinals[position] !== ordinal) continue
    const count = counts[position] ?? 0
    const part = (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
    scores[ordinal] = (scores[ordinal] ?? 0) + part
  }
}

function offerCandidates(segment: Segment, found: number, hits: TopHits): void {
  const { keys, removed } = segment
  const least = found > hits.limit ? thresholdOf(segment, found, hits.limit) : 0
  const threshold = Math.max(least, hits.threshold())
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    const score = scores[ordinal] ?? 0
    scores[ordinal] = 0
    if (score >= threshold && !removed?.[ordinal]) hits.offer(keys[ordinal] ?? 0, score)
  }
}
