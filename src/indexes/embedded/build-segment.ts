import type { TermBatch } from '../term-batch.ts'
import { allocateSegment, countLive, type Segment } from './segment.ts'

/** The most chunks that one segment is built of at once, so that no build stalls a search. */
export const MAX_CHUNKS_BUILT = 128

/** A segment of the chunks `[from, to)` of a batch, at most `MAX_CHUNKS_BUILT`. Of a key that comes twice the last counts. */
export function buildSegment(
  keys: Uint32Array,
  batch: TermBatch,
  from: number,
  to: number,
): Segment {
  const chunks = byAscendingKey(keys, from, to)
  const postings = sortedPostings(chunks, batch)
  const segment = allocateSegment({
    chunks: chunks.length,
    terms: countTerms(postings),
    postings: postings.length,
  })
  chunks.forEach((chunk, ordinal) => {
    segment.keys[ordinal] = keys[chunk] ?? 0
    segment.lengths[ordinal] = batch.lengths[chunk] ?? 0
  })
  countLive(segment)
  fillPostings(segment, postings)
  return segment
}

function byAscendingKey(keys: Uint32Array, from: number, to: number): number[] {
  const latest = new Map<number, number>()
  for (let chunk = from; chunk < to; chunk++) latest.set(keys[chunk] ?? 0, chunk)
  return [...latest].sort(([key], [other]) => key - other).map(([, chunk]) => chunk)
}

// A posting packed as term, ordinal and count fits the 53 bits of a double: 32 + 7 + 8.
const COUNT_VALUES = 2 ** 8
const BELOW_TERM = COUNT_VALUES * MAX_CHUNKS_BUILT

function sortedPostings(chunks: readonly number[], batch: TermBatch): Float64Array {
  const start = (chunk: number) => batch.offsets[chunk] ?? 0
  const total = chunks.reduce((sum, chunk) => sum + start(chunk + 1) - start(chunk), 0)
  const postings = new Float64Array(total)
  let next = 0
  chunks.forEach((chunk, ordinal) => {
    const end = start(chunk + 1)
    for (let i = start(chunk); i < end; i++) {
      const below = ordinal * COUNT_VALUES + (batch.counts[i] ?? 0)
      postings[next++] = (batch.terms[i] ?? 0) * BELOW_TERM + below
    }
  })
  return postings.sort()
}

function termOf(posting: number): number {
  return Math.floor(posting / BELOW_TERM)
}

function countTerms(postings: Float64Array): number {
  let terms = 0
  let previous = -1
  for (const posting of postings) {
    const term = termOf(posting)
    if (term !== previous) terms++
    previous = term
  }
  return terms
}

function fillPostings({ terms, offsets, ordinals, counts }: Segment, postings: Float64Array): void {
  let known = 0
  let previous = -1
  postings.forEach((posting, i) => {
    const term = termOf(posting)
    if (term !== previous) {
      terms[known] = term
      offsets[known++] = i
      previous = term
    }
    const below = posting - term * BELOW_TERM
    ordinals[i] = Math.floor(below / COUNT_VALUES)
    counts[i] = below % COUNT_VALUES
  })
  offsets[known] = postings.length
}
