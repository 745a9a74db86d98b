import { AppError } from '@agent-server/lib/errors.ts'

// https://sqlite.org/rescode.html; the low byte of an extended code is its primary code.
const SQLITE_BUSY = 5
const SQLITE_FULL = 13
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26
const UNAVAILABLE = new Map([
  [SQLITE_BUSY, 'busy'],
  [6, 'locked'],
  [7, 'out of memory'],
  [8, 'read-only'],
  [10, 'input or output fails'],
  [SQLITE_CORRUPT, 'damaged'],
  [14, 'cannot be opened'],
  [15, 'cannot be locked'],
  [SQLITE_NOTADB, 'not a database'],
])

const RESTORE =
  'Stop the server and restore the database: docs/guides/operations.md says how, under “A damaged database”.'

/** The error of a database that cannot be read as it is. */
export function damaged(how = 'damaged', cause?: unknown): AppError {
  return unavailable(`The document store is unavailable (${how}). ${RESTORE}`, cause)
}

/** The `AppError` for a failure of the disk or the database file; any other error, a bug, unchanged. */
export function toStoreError(thrown: unknown): unknown {
  const code = primaryCode(thrown)
  if (code === SQLITE_FULL) {
    return new AppError('storage_full', 'The disk of the document store is full', { cause: thrown })
  }
  const reason = code === undefined ? undefined : UNAVAILABLE.get(code)
  if (reason === undefined) return thrown
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return damaged(reason, thrown)
  return unavailable(`The document store is unavailable (${reason})`, thrown)
}

export function isStorageFull(thrown: unknown): boolean {
  const error = toStoreError(thrown)
  return error instanceof AppError && error.code === 'storage_full'
}

export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === SQLITE_BUSY
}

/** The error of every call while the store is unusable: closed, crashed or not answering. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('store_unavailable', message, { cause })
}

function primaryCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : undefined
}
