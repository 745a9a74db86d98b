import { AppError } from '../../errors.ts'
import { parseJson } from '../../lib/text/json.ts'

const BEFORE = 'before'
const AFTER = 'after'

/** The position of a document in a list that is not sorted by age. */
interface SortedPlace {
  /** The value that it is sorted by. */
  key: string | number
  number: number
}

/** The position of a chunk in its document. */
interface ChunkPlace {
  revision: number
  ordinal: number
}

/** An opaque cursor for "the documents stored before the one with this number". */
export function encodeCursor(number: number): string {
  return encode(BEFORE, [number])
}

/** Throws `invalid_request` with param `cursor` for anything that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): number {
  const [number = 0] = decode(cursor, BEFORE, 1)
  if (number > 0) return number
  throw unknownCursor()
}

/** An opaque cursor for "the documents after this one" in a list with this order. */
export function encodeSortedCursor(sort: string, { key, number }: SortedPlace): string {
  return Buffer.from(JSON.stringify([sort, key, number])).toString('base64url')
}

/** Throws `invalid_request` with param `cursor` for anything that `encodeSortedCursor` did not make for this order. */
export function decodeSortedCursor(sort: string, cursor: string): SortedPlace {
  const [made, key, number, ...rest] = parsed(cursor)
  const isKey = typeof key === 'string' || typeof key === 'number'
  if (made !== sort || !isKey || !Number.isSafeInteger(number) || rest.length > 0) {
    throw unknownCursor()
  }
  return { key, number: Number(number) }
}

function parsed(cursor: string): unknown[] {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString())
  return Array.isArray(parts) ? parts : []
}

/** An opaque cursor for "the chunks after this one". */
export function encodeChunkCursor({ revision, ordinal }: ChunkPlace): string {
  return encode(AFTER, [revision, ordinal])
}

/** Throws `invalid_request` with param `cursor` for anything `encodeChunkCursor` did not make. */
export function decodeChunkCursor(cursor: string): ChunkPlace {
  const [revision = 0, ordinal = 0] = decode(cursor, AFTER, 2)
  return { revision, ordinal }
}

/** The error for a cursor that no list has handed out, or whose list has changed. */
export function unknownCursor(): AppError {
  return new AppError(
    'invalid_request',
    'The cursor is not one that this list has handed out, or the list has changed since: begin again without one',
    { param: 'cursor' },
  )
}

function encode(kind: string, numbers: readonly number[]): string {
  return Buffer.from([kind, ...numbers].join(':')).toString('base64url')
}

function decode(cursor: string, kind: string, count: number): number[] {
  const numbers = Buffer.from(cursor, 'base64url').toString().split(':').slice(1).map(Number)
  const isOurs =
    numbers.length === count &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0) &&
    encode(kind, numbers) === cursor
  if (isOurs) return numbers
  throw unknownCursor()
}
