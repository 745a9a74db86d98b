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
  const terms: number[] = []
  const offsets: number[] = []
  postings.forEach((posting, i) => {
    const term = Math.floor(posting / BELOW_TERM)
    if (term === terms.at(-1)) return
    terms.push(term)
    offsets.push(i)
  })
  const size = { chunks: chunks.length, terms: terms.length, postings: postings.length }
  const segment = allocateSegment(size)
  segment.terms.set(terms)
  segment.offsets.set([...offsets, postings.length])
  postings.forEach((posting, i) => {
    const below = posting % BELOW_TERM
    segment.ordinals[i] = below >>> COUNT_BITS
    segment.counts[i] = below & (COUNT_VALUES - 1)
  })
  chunks.forEach((chunk, ordinal) => {
    segment.keys[ordinal] = keys[chunk] ?? 0
    segment.lengths[ordinal] = batch.lengths[chunk] ?? 0
    segment.digests[ordinal] = batch.digests[chunk] ?? 0
  })
  countLive(segment)
  return segment
}

function byAscendingKey(keys: Uint32Array, from: number, to: number): number[] {
  const latest = new Map<number, number>()
  for (let chunk = from; chunk < to; chunk++) latest.set(keys[chunk] ?? 0, chunk)
  return [...latest].sort(([key], [other]) => key - other).map(([, chunk]) => chunk)
}

// A posting packed as term, ordinal and count fits the 53 bits of a double: 32 + 7 + 8.
const COUNT_BITS = 8
const COUNT_VALUES = 2 ** COUNT_BITS
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
