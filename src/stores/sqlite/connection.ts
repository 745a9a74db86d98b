import { statfsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import type { Statement, Value } from '../sql/query.ts'
import { integer, type Row, text } from '../sql/rows.ts'
import { isBusy, unavailable } from './error.ts'
import { schemaVersion } from './migrate.ts'

/** Of the database, in the data directory. */
export const DATABASE_FILE = 'agent-server.db'
const PRIVATE = 0o700

// Another program may hold the file for a moment (a backup, the sqlite3 shell). Writes wait on their own thread;
// reads wait on the event loop, and therefore only briefly.
const WRITER_BUSY_TIMEOUT_MS = 5_000
const READER_BUSY_TIMEOUT_MS = 250

// Chunks of about 2 kB fill a page of 8 kB with 10 % less waste than one of 4 kB.
const PAGE_BYTES = 8_192
// Pages that are not in this cache come from the system's: ten chunks in 0.09 ms instead of 0.07. A larger one would
// not pay: the memory that it gives back lies between what others hold, and stays with the process.
const CACHE_KIBIBYTES = 4_096
const CHECKPOINT_PAGES = 2_000
const MAX_IDLE_LOG_BYTES = 64 * 2 ** 20

/** Opens the file, made if it is missing, so that a commit returns only when it is on the disk. Throws as `schemaVersion`. */
export function openForWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: WRITER_BUSY_TIMEOUT_MS })
  try {
    // First of all, so that a file that is not ours stays as it was.
    schemaVersion(database)
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    const mode = text(database.prepare('PRAGMA journal_mode = WAL').get(), 'journal_mode')
    if (mode !== 'wal') {
      throw unavailable(`The file system of ${file} has no shared memory, which the store needs`)
    }
    // On macOS a plain fsync does not reach the disk; fullfsync means nothing elsewhere.
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA checkpoint_fullfsync = ON;
      PRAGMA secure_delete = ON;
      PRAGMA foreign_keys = ON;
      PRAGMA cache_size = -${CACHE_KIBIBYTES};
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES};
    `)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Empties the log, where what was deleted or replaced still stands, and then the cache, which is of use while much is
 * written. Answers false where a reader needs the log at this moment; waits for none.
 */
export function emptyLog(database: DatabaseSync): boolean {
  database.exec('PRAGMA busy_timeout = 0')
  try {
    const isHeld = integer(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get(), 'busy') > 0
    if (!isHeld) database.exec('PRAGMA shrink_memory')
    return !isHeld
  } finally {
    database.exec(`PRAGMA busy_timeout = ${WRITER_BUSY_TIMEOUT_MS}`)
  }
}

/** With less room left on the disk no text is taken: what is here already can still be worked on, and deleted. */
export const LEFT_FREE_BYTES = 32 * 2 ** 20
/** With less, what is freed is not overwritten: that takes as much room in the log as what is deleted was large. */
const OVERWRITING_BYTES = 256 * 2 ** 20

/** Throws `storage_full` where a disk has not so many bytes left. */
export function requireRoom(directory: string, bytes: number): void {
  if (bytes === 0 || hasRoom(directory, bytes)) return
  const left = `less than ${bytes / 2 ** 20} MiB are left`
  throw new AppError('storage_full', `The disk of the document store is full: ${left}`)
}

function hasRoom(directory: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize >= bytes
}

/** Runs writes. Where the disk is nearly full, what they free is not overwritten at once: otherwise nobody could make room by deleting. */
export function withRoom<Output>(
  database: DatabaseSync,
  work: () => Output,
  overwrites = hasRoom(directoryOf(database), OVERWRITING_BYTES),
): Output {
  if (overwrites) return work()
  database.exec('PRAGMA secure_delete = FAST')
  try {
    return work()
  } finally {
    database.exec('PRAGMA secure_delete = ON')
  }
}

/** Where the database lies. */
export const directoryOf = (database: DatabaseSync) => dirname(database.location() ?? '.')

/** A second connection that sees every commit at once and is never held up by a write. */
export function openForReading(file: string, cacheKibibytes = CACHE_KIBIBYTES): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: READER_BUSY_TIMEOUT_MS })
  database.exec(`PRAGMA cache_size = -${cacheKibibytes}`)
  return database
}

/** Runs statements on a connection. */
export function createRunner(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>()

  const prepare = (text: string) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }

  return (statement: Statement, values: readonly Value[] = []): Row[] => {
    const isKept = typeof statement === 'string'
    const ready = isKept ? prepare(statement) : database.prepare(statement.made)
    return ready.all(Object.fromEntries(values.map((value, i) => [`$${i + 1}`, bound(value)])))
  }
}

/** An array is bound as JSON. */
function bound(value: Value): SQLInputValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return JSON.stringify(value)
  return value
}

/** Makes the data directory if it is missing. */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: PRIVATE })
  } catch (error) {
    throw unavailable(`Cannot make the data directory ${directory}`, error)
  }
}

interface DirectoryLock {
  release(): void
}

/**
 * Takes the data directory for this process alone. The lock is the operating system's, held on a file of
 * its own, so it ends with the process however that ends. Throws `store_unavailable` at once if it is taken.
 */
export function lockDirectory(directory: string): DirectoryLock {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(directory, 'agent-server.lock'), { timeout: 0 })
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (!isBusy(error)) throw unavailable(`Cannot write in the data directory ${directory}`, error)
    throw unavailable(
      `Another server is using the data directory ${directory}. Stop it, or set DATA_DIR to another directory.`,
      error,
    )
  }
  const held = file
  return { release: () => held.close() }
}
