import { createChunkBatchReader } from '../chunk-codec.ts'
import type { NewChunk, StagedChunks } from '../document-store.ts'
import type { Value } from '../sql/query.ts'
import { bytes, integer, type Row } from '../sql/rows.ts'

/** Encodes a value for the client library. */
export function toParameter(value: Value): unknown {
  if (typeof value === 'string') return toColumn(value)
  return Array.isArray(value) ? value.map(toParameter) : value
}

// https://www.postgresql.org/docs/current/catalog-pg-type.html
const BOOLEAN = 16
const BYTES = 17
const LONG = 20
const INTEGER = 23
const DOUBLE = 701
const LONGS = 1_016

/** Returns the parser that the client library uses for the text of a column of this type. */
export function readColumn(type: number): (value: string) => unknown {
  switch (type) {
    case BOOLEAN:
      return (value) => value === 't'
    case BYTES:
      return (value) => Buffer.from(value.slice('\\x'.length), 'hex')
    case LONG:
    case INTEGER:
    case DOUBLE:
      return Number
    case LONGS:
      return (value) => (value === '{}' ? [] : value.slice(1, -1).split(',').map(Number))
    default:
      return fromColumn
  }
}

/** The keys that a function returns as `keys`, if it returns any. */
export function keysIn(row: Row | undefined): number[] | undefined {
  const keys = row?.keys
  return Array.isArray(keys) ? keys : undefined
}

/** As much as one read may return without blocking the event loop for more than a few milliseconds. */
export const SLICE_BYTES = 2 ** 20

/**
 * Reads a value of some megabytes slice by slice: `read` returns the row with the slice at this position (from 1) as
 * `bytes`, and the total `size`. Returns the last row and all bytes; undefined if the row is gone.
 */
export async function readSlices(
  read: (place: number) => Promise<Row[]>,
): Promise<{ row: Row; bytes: Uint8Array } | undefined> {
  const slices: Uint8Array[] = []
  for (let start = 0; ; start += SLICE_BYTES) {
    const [row] = await read(start + 1)
    if (!row) return undefined
    slices.push(bytes(row, 'bytes'))
    if (start + SLICE_BYTES >= integer(row, 'size')) return { row, bytes: Buffer.concat(slices) }
  }
}

// PostgreSQL's text holds every character but NUL. A noncharacter, which no text should contain, stands in for it; if
// a text contains it anyway, it is escaped: https://www.unicode.org/faq/private_use.html#nonchar1
const MARK = '\uFDD0'
const NUL = `${MARK}0`
const ITSELF = `${MARK}1`

/** Encodes a text so that a column can hold it. */
export function toColumn(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text
  return text.replaceAll(MARK, ITSELF).replaceAll('\0', NUL)
}

/** Decodes a text encoded by `toColumn`. */
export function fromColumn(column: string): string {
  if (!column.includes(MARK)) return column
  return column.replaceAll(NUL, '\0').replaceAll(ITSELF, MARK)
}

/** Reads all chunks of a staged file, with their keys, because one statement stores them together. */
export async function gatherChunkBatches(
  pieces: AsyncIterable<Uint8Array>,
  { firstKey, count }: StagedChunks,
): Promise<NewChunk[]> {
  const reader = createChunkBatchReader()
  const chunks: NewChunk[] = []
  for await (const piece of pieces) {
    for (const batch of reader.push(piece)) {
      for (const chunk of batch.chunks) {
        chunks.push({ ...chunk, key: firstKey + chunks.length, ordinal: chunks.length })
      }
    }
  }
  if (chunks.length !== count) {
    throw new Error(`There are ${chunks.length} staged chunks instead of ${count}`)
  }
  return chunks
}
