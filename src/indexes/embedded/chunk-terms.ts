import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { lowerBound } from '../../lib/lower-bound.ts'
import type { ChunkTerms } from '../feedback.ts'
import type { TermBatch } from '../term-batch.ts'
import { findKey, type Segment } from './segment.ts'

// What each chunk of a segment holds, which its postings tell too slowly, stands in its file alone, one record a
// chunk. A record is words of 32 bits: a CRC-32 of what follows, how many terms there are, the terms, ascending; then
// bytes up to the end of a word: the counts of the terms, the first one last.
const SIZE = 1
const FIRST_TERM = 2
const WORD = Uint32Array.BYTES_PER_ELEMENT

/** Postings handled between two chances to pause. */
const POSTINGS_PER_STEP = 65_536

/** Records that follow each other, the first of which begins at `start`. */
interface Part {
  start: number
  words: Uint32Array
  /** The same memory. */
  bytes: Uint8Array<ArrayBuffer>
}

/** Sets where the record of each chunk begins. */
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

/** The records of the chunks `[from, to)`. Looks at every posting of the segment. */
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

/** Puts the posting at `i`, of `term`, at the end of its chunk's record, which counts its terms as they come. */
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

/** Gives each record its checksum. */
function seal(records: Uint32Array, { start, words, bytes }: Part): void {
  for (let i = 0; i + 1 < records.length; i++) {
    const record = (records[i] ?? 0) - start
    const end = (records[i + 1] ?? 0) - start
    words[record] = checksum(bytes.subarray(WORD * record, WORD * end))
  }
}

/** The terms of the chunks with these keys, in their order; of those that no segment holds, none. */
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
  // A segment not yet written is small, or will be soon; of a damaged file its memory is the better one.
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

/** As it was written, if it was. */
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

/** From the postings, of which it looks at all. */
function gather({ terms, offsets, ordinals, counts }: Segment, ordinal: number) {
  const postings: number[] = []
  for (let i = ordinals.indexOf(ordinal); i >= 0; i = ordinals.indexOf(ordinal, i + 1))
    postings.push(i)
  // The term of the last list that begins at or before the posting.
  const termOf = (i: number) => terms[lowerBound(offsets, i + 1, 0, offsets.length) - 1] ?? 0
  return {
    terms: Uint32Array.from(postings, termOf),
    counts: Uint8Array.from(postings, (i) => counts[i] ?? 0),
  }
}

function checksum(record: Uint8Array): number {
  return crc32(record.subarray(WORD))
}
