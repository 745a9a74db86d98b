import { lowerBound } from '@agent-server/lib/lower-bound.ts'
import { type LengthNorm, lengthNorm, type TermBatch } from '../term-batch.ts'

/** Chunk ordinals take 16 bits, which saves two of five bytes per posting and keeps scores in the CPU cache. */
export const MAX_CHUNKS = 65_536

/**
 * An inverted index of some chunks, immutable except for removals. A chunk is identified by its ordinal: its position
 * among the ascending keys. The term at `i` owns the postings `[offsets[i], offsets[i + 1])`, ascending by ordinal.
 */
export interface Segment {
  /** The memory of all arrays below except `removed`, as it is written to disk. */
  readonly bytes: ArrayBuffer
  readonly header: Uint32Array<ArrayBuffer>
  readonly keys: Uint32Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer>
  readonly terms: Uint32Array<ArrayBuffer>
  readonly offsets: Uint32Array<ArrayBuffer>
  readonly ordinals: Uint16Array<ArrayBuffer>
  readonly counts: Uint8Array<ArrayBuffer>
  /** 1 at the ordinal of each removed chunk; undefined until the first removal. */
  removed: Uint8Array<ArrayBuffer> | undefined
  live: number
  /** Sum of the lengths of the live chunks. */
  liveLength: number
}

interface SegmentSize {
  chunks: number
  terms: number
  postings: number
}

/** Positions in the header. `magic` does not match on a machine with the other byte order. */
export const HEADER = { magic: 0, checksum: 1, chunks: 2, terms: 3, postings: 4 } as const
const HEADER_BYTES = 32
const MAGIC = 0x32734149

/** Maximum number of chunks per segment built, so that building one does not delay searches. */
export const MAX_CHUNKS_BUILT = 128

/** Builds a segment of the chunks `[from, to)`, at most `MAX_CHUNKS_BUILT`; of duplicate keys the last counts. */
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
  })
  countLive(segment)
  return segment
}

function byAscendingKey(keys: Uint32Array, from: number, to: number): number[] {
  const latest = new Map<number, number>()
  for (let chunk = from; chunk < to; chunk++) latest.set(keys[chunk] ?? 0, chunk)
  return [...latest].sort(([key], [other]) => key - other).map(([, chunk]) => chunk)
}

// A posting packed as term, ordinal and count fits into the 53 bits of a double: 32 + 7 + 8.
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

/** Allocates a segment to be filled; `keys` and `lengths` must be set before `countLive` is called. */
export function allocateSegment(size: SegmentSize): Segment {
  const segment = viewSegment(new ArrayBuffer(byteLength(size)), size)
  segment.header[HEADER.magic] = MAGIC
  segment.header[HEADER.chunks] = size.chunks
  segment.header[HEADER.terms] = size.terms
  segment.header[HEADER.postings] = size.postings
  return segment
}

/** The segment in `bytes`; undefined if their length or header is invalid. Does not verify the checksum. */
export function readSegment(bytes: ArrayBuffer): Segment | undefined {
  if (bytes.byteLength < HEADER_BYTES) return undefined
  const header = new Uint32Array(bytes, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT)
  const size = {
    chunks: header[HEADER.chunks] ?? 0,
    terms: header[HEADER.terms] ?? 0,
    postings: header[HEADER.postings] ?? 0,
  }
  if (header[HEADER.magic] !== MAGIC || byteLength(size) !== bytes.byteLength) return undefined
  const segment = viewSegment(bytes, size)
  countLive(segment)
  return segment
}

export function countLive(segment: Segment): void {
  segment.live = segment.keys.length
  segment.liveLength = segment.lengths.reduce((sum, length) => sum + length, 0)
}

/** The number of live chunks in all segments, and BM25's length normalisation for them. */
export function normOf(segments: readonly Segment[]): { chunks: number; norm: LengthNorm } {
  const chunks = segments.reduce((sum, { live }) => sum + live, 0)
  const length = segments.reduce((sum, { liveLength }) => sum + liveLength, 0)
  return { chunks, norm: lengthNorm(chunks, length) }
}

/** Marks the chunk at `ordinal` as removed; returns false if it already was. */
export function removeChunk(segment: Segment, ordinal: number): boolean {
  segment.removed ??= new Uint8Array(segment.keys.length)
  if (segment.removed[ordinal]) return false
  segment.removed[ordinal] = 1
  segment.live--
  segment.liveLength -= segment.lengths[ordinal] ?? 0
  return true
}

/** The ordinal of `key`, or -1. */
export function findKey({ keys }: Segment, key: number): number {
  // Keys grow over time, so the ranges of most segments exclude a new key.
  if (key > (keys[keys.length - 1] ?? 0) || key < (keys[0] ?? 0)) return -1
  const position = lowerBound(keys, key, 0, keys.length)
  return keys[position] === key ? position : -1
}

/** The position of `term`, or -1. */
export function findTerm({ terms }: Segment, term: number): number {
  const position = lowerBound(terms, term, 0, terms.length)
  return terms[position] === term ? position : -1
}

/** Like `lowerBound`, by galloping search from `from`: fast if the position is near, and logarithmic at worst. */
function seek(
  ascending: Uint32Array | Uint16Array,
  value: number,
  from: number,
  to: number,
): number {
  let low = from
  let step = 1
  while (low + step < to && (ascending[low + step] ?? 0) < value) {
    low += step
    step *= 2
  }
  return lowerBound(ascending, value, low, Math.min(low + step, to))
}

/** 1 at the ordinal of every chunk that is removed or whose key is not in `only`, which must be ascending. */
export function excludedBy({ keys, removed }: Segment, only: Uint32Array): Uint8Array<ArrayBuffer> {
  const excluded = new Uint8Array(keys.length).fill(1)
  const first = lowerBound(only, keys[0] ?? 0, 0, only.length)
  let ordinal = 0
  for (let i = first; i < only.length && ordinal < keys.length; i++) {
    const key = only[i] ?? 0
    ordinal = seek(keys, key, ordinal, keys.length)
    if (keys[ordinal] === key) excluded[ordinal] = removed?.[ordinal] ?? 0
  }
  return excluded
}

function byteLength({ chunks, terms, postings }: SegmentSize): number {
  return HEADER_BYTES + 8 * chunks + 4 * terms + 4 * (terms + 1) + 3 * postings
}

function viewSegment(bytes: ArrayBuffer, { chunks, terms, postings }: SegmentSize): Segment {
  const lengthsAt = HEADER_BYTES + 4 * chunks
  const termsAt = lengthsAt + 4 * chunks
  const offsetsAt = termsAt + 4 * terms
  const ordinalsAt = offsetsAt + 4 * (terms + 1)
  const countsAt = ordinalsAt + 2 * postings
  return {
    bytes,
    header: new Uint32Array(bytes, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT),
    keys: new Uint32Array(bytes, HEADER_BYTES, chunks),
    lengths: new Uint32Array(bytes, lengthsAt, chunks),
    terms: new Uint32Array(bytes, termsAt, terms),
    offsets: new Uint32Array(bytes, offsetsAt, terms + 1),
    ordinals: new Uint16Array(bytes, ordinalsAt, postings),
    counts: new Uint8Array(bytes, countsAt, postings),
    removed: undefined,
    live: chunks,
    liveLength: 0,
  }
}
