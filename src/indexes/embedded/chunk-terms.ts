import { readSync } from 'node:fs'
import { lowerBound } from '@agent-server/lib/lower-bound.ts'
import { findKey, type Segment } from './segment.ts'

// The terms of each chunk, which would be slow to collect from the postings, are kept only in the segment's file, in
// one record per chunk: the terms, ascending, as 32-bit numbers, and then their counts, one byte each, padded to a
// whole word. A damaged record only makes feedback worse, so it has no checksum.
const WORD = Uint32Array.BYTES_PER_ELEMENT

/** Postings handled between two yields. */
const POSTINGS_PER_STEP = 65_536

interface ChunkTerms {
  key: number
  /** As in `TermBatch`. */
  length: number
  terms: Uint32Array
  counts: Uint8Array
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
    records[ordinal + 1] = (records[ordinal] ?? 0) + size + Math.ceil(size / WORD)
  }
}

/** The number of terms in a record of so many words. */
function sizeOf(words: number): number {
  return Math.floor((WORD * words) / (WORD + 1))
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
  const part = {
    from,
    words,
    bytes: new Uint8Array(words.buffer),
    entered: new Uint32Array(to - from),
  }
  let position = 0
  for (let i = 0; i < ordinals.length; i++) {
    while (i === offsets[position + 1]) position++
    const ordinal = ordinals[i] ?? 0
    if (ordinal >= from && ordinal < to) enter(segment, i, terms[position] ?? 0, part)
    if (i % POSTINGS_PER_STEP === 0) yield
  }
  return part.bytes
}

/** The records of consecutive chunks, of which the first is `from`. */
interface Part {
  from: number
  words: Uint32Array
  /** The same memory. */
  bytes: Uint8Array<ArrayBuffer>
  /** How many terms each record has so far. */
  entered: Uint32Array
}

/** Writes the posting at `i`, of `term`, to its chunk's record. */
function enter(
  { ordinals, counts, records }: Segment,
  i: number,
  term: number,
  { from, words, bytes, entered }: Part,
): void {
  const ordinal = ordinals[i] ?? 0
  const start = records[from] ?? 0
  const [begin = 0, end = 0] = records.subarray(ordinal, ordinal + 2)
  const place = entered[ordinal - from] ?? 0
  entered[ordinal - from] = place + 1
  words[begin - start + place] = term
  bytes[WORD * (begin - start + sizeOf(end - begin)) + place] = counts[i] ?? 0
}

/** The terms of the chunks with these keys, in their order; keys that no segment holds are omitted. */
export function termsOf(segments: readonly Segment[], keys: Iterable<number>): ChunkTerms[] {
  return Array.from(keys).flatMap((key) => {
    for (const segment of segments) {
      const ordinal = findKey(segment, key)
      if (ordinal < 0 || segment.removed?.[ordinal]) continue
      const length = segment.lengths[ordinal] ?? 0
      // A segment that is not written yet is small, or will be written soon.
      const read =
        segment.file === undefined ? gather(segment, ordinal) : readRecord(segment, ordinal)
      return { key, length, ...read }
    }
    return []
  })
}

function readRecord({ file = -1, bytes, records }: Segment, ordinal: number) {
  const [from = 0, to = 0] = records.subarray(ordinal, ordinal + 2)
  const record = new Uint8Array(WORD * (to - from))
  readSync(file, record, 0, record.length, bytes.byteLength + WORD * from)
  const size = sizeOf(to - from)
  return {
    terms: new Uint32Array(record.buffer, 0, size),
    counts: record.subarray(WORD * size, (WORD + 1) * size),
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
