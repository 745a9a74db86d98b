import type { LengthNorm } from '../term-batch.ts'
import { lowerBound, MAX_CHUNKS, type Segment } from './segment.ts'
import { createTopHits, type TopHits } from './top-hits.ts'

/** The postings `[from, to)` of one term. What it adds to a score is always below `bound`. */
export interface Postings {
  from: number
  to: number
  bound: number
}

/** What finding one chunk among postings costs, in postings read one after another. */
const LOOKUP_COST = 16
/** Lists that much longer than all before them are worth a look at how good the candidates are already. */
const LONG_LIST = 2

const scores = new Float64Array(MAX_CHUNKS)
/** The ordinals whose score is not zero. */
const candidates = new Uint16Array(MAX_CHUNKS)

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
  const rest = sumsFrom(lists)
  let threshold = hits.threshold()
  let found = 0
  let next = 0
  for (const list of lists) {
    if (found > 0 && list.to - list.from > LONG_LIST * found) {
      threshold = Math.max(threshold, thresholdOf(segment, found, hits.limit))
    }
    if ((rest[next] ?? 0) < threshold) break
    found = addAll(segment, list, norm, found)
    next++
  }
  for (const list of lists.slice(next)) {
    found = addToFound(segment, list, norm, { found, needed: threshold - (rest[next++] ?? 0) })
  }
  offerCandidates(segment, found, hits)
}

/** For each list, the most that it and those after it can add. */
function sumsFrom(lists: readonly Postings[]): number[] {
  const sums: number[] = []
  let sum = 0
  for (let i = lists.length - 1; i >= 0; i--) {
    sum += lists[i]?.bound ?? 0
    sums[i] = sum
  }
  return sums
}

function thresholdOf({ removed }: Segment, found: number, limit: number): number {
  const best = createTopHits(limit)
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    if (!removed?.[ordinal]) best.offer(ordinal, scores[ordinal] ?? 0)
  }
  return best.threshold()
}

/** Adds what a list gives to the candidates there are; those below `needed` may be dropped. Answers how many are left. */
function addToFound(
  segment: Segment,
  list: Postings,
  norm: LengthNorm,
  { found, needed }: { found: number; needed: number },
): number {
  const length = list.to - list.from
  // To drop candidates takes a look at each of them: a shorter list is rather read for all.
  const left = length > found ? dropBelow(needed, found) : found
  if (length < LOOKUP_COST * left) addByReading(segment, list, norm)
  else addByLookup(segment, list, norm, left)
  return left
}

function addAll(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  alreadyFound: number,
): number {
  let found = alreadyFound
  for (let i = from; i < to; i++) {
    const ordinal = ordinals[i] ?? 0
    const count = counts[i] ?? 0
    const score = scores[ordinal] ?? 0
    if (score === 0) candidates[found++] = ordinal
    scores[ordinal] = score + (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
  }
  return found
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

/** Reads the whole list, passing over chunks that are no candidates. */
function addByReading(segment: Segment, list: Postings, norm: LengthNorm): void {
  const { ordinals, counts } = segment
  for (let i = list.from; i < list.to; i++) {
    const ordinal = ordinals[i] ?? 0
    if ((scores[ordinal] ?? 0) > 0) addPart(segment, norm, ordinal, counts[i] ?? 0, list.bound)
  }
}

/** Looks every candidate up in the list. */
function addByLookup(segment: Segment, list: Postings, norm: LengthNorm, found: number): void {
  const { ordinals, counts } = segment
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    const position = lowerBound(ordinals, ordinal, list.from, list.to)
    if (position === list.to || ordinals[position] !== ordinal) continue
    addPart(segment, norm, ordinal, counts[position] ?? 0, list.bound)
  }
}

function addPart(
  { lengths }: Segment,
  { base, slope }: LengthNorm,
  ordinal: number,
  count: number,
  bound: number,
): void {
  const part = (bound * count) / (count + (base + slope * (lengths[ordinal] ?? 0)))
  scores[ordinal] = (scores[ordinal] ?? 0) + part
}

function offerCandidates({ keys, removed }: Segment, found: number, hits: TopHits): void {
  for (let i = 0; i < found; i++) {
    const ordinal = candidates[i] ?? 0
    if (!removed?.[ordinal]) hits.offer(keys[ordinal] ?? 0, scores[ordinal] ?? 0)
    scores[ordinal] = 0
  }
}
