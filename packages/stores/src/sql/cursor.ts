import { AppError } from '@agent-server/lib/errors.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'

/** The position of a row in a list that is sorted by a key, and then by a number. */
interface Place<Key extends string | number> {
  key: Key
  number: number
}

/** An opaque cursor for "the rows of this list after this one". */
export function encodeCursor(list: string, { key, number }: Place<string | number>): string {
  return Buffer.from(JSON.stringify([list, key, number])).toString('base64url')
}

/** Throws `invalid_request` with param `cursor` for anything that `encodeCursor` did not make for this list. */
export function decodeCursor<Key extends string | number>(
  list: string,
  cursor: string,
  isKey: (value: unknown) => value is Key,
): Place<Key> {
  const place = parseJson(Buffer.from(cursor, 'base64url').toString())
  if (!Array.isArray(place) || place.length !== 3) throw unknownCursor()
  const [name, key, number]: unknown[] = place
  if (name !== list || !isKey(key) || !isInteger(number) || number < 0) throw unknownCursor()
  return { key, number }
}

export const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
export const isText = (value: unknown): value is string => typeof value === 'string'

/** The error for a cursor that no list has handed out, or whose list has changed. */
export function unknownCursor(): AppError {
  return new AppError(
    'invalid_request',
    'The cursor is not valid for this list, or the list has changed: start again without a cursor',
    { param: 'cursor' },
  )
}
