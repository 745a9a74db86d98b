import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { lowerBound } from '../../lib/lower-bound.ts'
import type { ChunkTerms } from '../feedback.ts'
import type { TermBatch } from '../term-batch.ts'
import { findKey, type Segment } from './segment.ts'

// The terms of each chunk, which would be slow to collect from the postings, are kept only in the segment's file, in
// one record per chunk. A record consists of 32-bit words: a CRC-32 of the rest, the number of terms, and the terms,
// ascending. It ends with the counts of the terms, one byte each, in reverse order, padded in front to a whole word.
const SIZE = 1
const FIRST_TERM = 2
const WORD = Uint32Array.BYTES_PER_ELEMENT

/** Postings handled between two yields. */
const POSTINGS_PER_STEP = 65_536

/** Consecutive records, of which the first begins at `start`. */
interface Part {
  start: number
  words: Uint32Array
  /** The same memory. */
  bytes: Uint8Array<ArrayBuffer>
}

/** Computes the offset of each chunk's record. */
export function* placeRecords({ ordinals, records }: Segment): Generator<void> {
  const sizes = new Uint32Array(records.length)
  for (let i = 0; i < ordinals.length; i++) {
    const ordinal = ordinals[i] ?? 0
    sizes[ordinal] = (sizes[ordinal] ?? 0) + 1
    if (i % POSTINGS_PER_STEP === 0) yield
  }
  for (let ordinal = 0; ordinal + 1 < records.length; ordinal++) {
    const size = sizes[ordinal] ?? 0
    records[ordinal + 1] = (records[ordinal] ?? 0) + FIRST_TERM + size + Math.ceil(size / WORD)
  }
}

/** The records of the chunks `[from, to)`. Reads every posting of the segment. */
export function* recordsOf(
  segment: Segment,
  from: number,
  to: number,
): Generator<void, Uint8Array<ArrayBuffer>> {
  const { terms, offsets, ordinals, records } = segment
  const start = records[from] ?? 0
  const words = new Uint32Array((records[to] ?? 0) - start)
  const part = { start, words, bytes: new Uint8Array(words.buffer) }
  let position = 0
  for (let i = 0; i < ordinals.length; i++) {
    while (i === offsets[position + 1]) position++
    const ordinal = ordinals[i] ?? 0
    if (ordinal >= from && ordinal < to) enter(segment, i, terms[position] ?? 0, part)
    if (i % POSTINGS_PER_STEP === 0) yield
  }
  seal(records.subarray(from, to + 1), part)
  return part.bytes
}

/** Appends the posting at `i`, of `term`, to its chunk's record and increments the record's number of terms. */
function enter(
  { ordinals, counts, records }: Segment,
  i: number,
  term: number,
  { words, bytes, start }: Part,
): void {
  const ordinal = ordinals[i] ?? 0
  const record = (records[ordinal] ?? 0) - start
  const size = words[record + SIZE] ?? 0
  words[record + SIZE] = size + 1
  words[record + FIRST_TERM + size] = term
  const end = WORD * ((records[ordinal + 1] ?? 0) - start)
  bytes[end - 1 - size] = counts[i] ?? 0
}

/** Sets the checksum of each record. */
function seal(records: Uint32Array, { start, words, bytes }: Part): void {
  for (let i = 0; i + 1 < records.length; i++) {
    const record = (records[i] ?? 0) - start
    const end = (records[i + 1] ?? 0) - start
    words[record] = checksum(bytes.subarray(WORD * record, WORD * end))
  }
}

/** The terms of the chunks with these keys, in their order; keys that no segment holds are omitted. */
export function termsOf(segments: readonly Segment[], keys: Iterable<number>): ChunkTerms[] {
  return Array.from(keys).flatMap((key) => {
    for (const segment of segments) {
      const ordinal = findKey(segment, key)
      if (ordinal >= 0 && !segment.removed?.[ordinal])
        return { key, terms: termsAt(segment, ordinal) }
    }
    return []
  })
}

function termsAt(segment: Segment, ordinal: number): TermBatch {
  // A segment that is not written yet is small or will be written soon; if the file is damaged, memory is still intact.
  const { terms, counts } = readRecord(segment, ordinal) ?? gather(segment, ordinal)
  return {
    size: 1,
    lengths: segment.lengths.slice(ordinal, ordinal + 1),
    digests: segment.digests.slice(ordinal, ordinal + 1),
    offsets: Uint32Array.of(0, terms.length),
    terms,
    counts,
  }
}

/** Reads a chunk's record from the file; undefined if the segment is not written yet or the record is damaged. */
function readRecord({ file, bytes, records }: Segment, ordinal: number) {
  if (file === undefined) return undefined
  const [from = 0, to = 0] = records.subarray(ordinal, ordinal + 2)
  const record = new Uint8Array(WORD * (to - from))
  readSync(file, record, 0, record.length, bytes.byteLength + WORD * from)
  const [written, size = 0] = new Uint32Array(record.buffer, 0, FIRST_TERM)
  if (written !== checksum(record)) return undefined
  return {
    terms: new Uint32Array(record.buffer, WORD * FIRST_TERM, size),
    counts: record.slice(record.length - size).reverse(),
  }
}

/** Collects a chunk's terms from the postings, all of which it reads. */
function gather({ terms, offsets, ordinals, counts }: Segment, ordinal: number) {
  const postings: number[] = []
  for (let i = ordinals.indexOf(ordinal); i >= 0; i = ordinals.indexOf(ordinal, i + 1))
    postings.push(i)
  // The term of the last postings list that begins at or before the posting.
  const termOf = (i: number) => terms[lowerBound(offsets, i + 1, 0, offsets.length) - 1] ?? 0
  return {
    terms: Uint32Array.from(postings, termOf),
    counts: Uint8Array.from(postings, (i) => counts[i] ?? 0),
  }
}

function checksum(record: Uint8Array): number {
  return crc32(record.subarray(WORD))
}
