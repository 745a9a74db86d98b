import { accessSync, constants, statfsSync } from 'node:fs'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { AppError } from '@agent-server/lib/errors.ts'
import { exists, isMissing } from '@agent-server/lib/files.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { integer, type Row, type Statement, text, type Value } from '../sql/query.ts'
import { isBusy, unavailable } from './error.ts'
import { schemaVersion } from './migrate.ts'

/** The name of the database file in the data directory. */
export const DATABASE_FILE = 'agent-server.db'
const PRIVATE = 0o700
const PRIVATE_FILE = 0o600

// Another program may lock the file for a moment (a backup, the sqlite3 shell). Writes wait on their own thread;
// reads wait on the event loop, and therefore only briefly.
const WRITER_BUSY_TIMEOUT_MS = 5_000
const READER_BUSY_TIMEOUT_MS = 250

// Chunks of about 2 kB fill pages of 8 kB with 10 % less waste than pages of 4 kB.
const PAGE_BYTES = 8_192
// Pages missing from this cache come from the operating system's: ten chunks then take 0.09 ms instead of 0.07. A
// larger cache would not pay: the memory it frees is scattered between other allocations and stays with the process.
const CACHE_KIBIBYTES = 4_096
const CHECKPOINT_PAGES = 2_000
const MAX_IDLE_LOG_BYTES = 64 * 2 ** 20

/** Opens the file, creating it if missing. A commit returns only once it is on disk. Throws like `schemaVersion`. */
export function openForWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: WRITER_BUSY_TIMEOUT_MS })
  try {
    // Checked first, so that a file that is not ours stays unchanged.
    schemaVersion(database)
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    const mode = text(database.prepare('PRAGMA journal_mode = WAL').get(), 'journal_mode')
    if (mode !== 'wal') {
      throw unavailable(`The file system of ${file} has no shared memory, which the store needs`)
    }
    // On macOS a plain fsync does not reach the disk; fullfsync has no effect elsewhere.
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
    addClock(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const addClock = (database: DatabaseSync) => database.function('now_ms', () => BigInt(Date.now()))

/**
 * Empties the log, which still contains what was deleted or replaced, and then the cache, which only helps during heavy
 * writing. Returns false if a reader needs the log at this moment; never waits.
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

/** With less disk space left, no new text is accepted, but existing documents can still be processed and deleted. */
export const LEFT_FREE_BYTES = 32 * 2 ** 20
/**
 * With less space left, freed space is not overwritten: that takes as much space in the log as the deleted data had.
 */
const OVERWRITING_BYTES = 256 * 2 ** 20

/** Throws `storage_full` if the disk has less than this many bytes left. */
export function requireRoom(directory: string, bytes: number): void {
  if (bytes === 0 || hasRoom(directory, bytes)) return
  const left = `less than ${bytes / 2 ** 20} MiB are left`
  throw new AppError('storage_full', `The disk of the document store is full: ${left}`)
}

/** Throws `store_unavailable` if the directory is gone. */
export function hasRoom(directory: string, bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize >= bytes
  } catch (error) {
    const message = `The data directory ${directory} cannot be read. Put it back if it was moved, then restart the server.`
    throw unavailable(message, error)
  }
}

/**
 * Runs writes. If the disk is nearly full, the space they free is not overwritten at once: otherwise nobody could make
 * room by deleting.
 */
export async function withRoom<Output>(
  database: DatabaseSync,
  work: () => Output | Promise<Output>,
  overwrites = hasRoom(directoryOf(database), OVERWRITING_BYTES),
): Promise<Output> {
  if (overwrites) return work()
  database.exec('PRAGMA secure_delete = FAST')
  try {
    return await work()
  } finally {
    database.exec('PRAGMA secure_delete = ON')
  }
}

export const directoryOf = (database: DatabaseSync) => dirname(database.location() ?? '.')

/** Opens a second connection that sees every commit at once and is never blocked by a write. */
export function openForReading(file: string, cacheKibibytes = CACHE_KIBIBYTES): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: READER_BUSY_TIMEOUT_MS })
  database.exec(`PRAGMA cache_size = -${cacheKibibytes}`)
  addClock(database)
  return database
}

/** A statement of SQLite, and which parameter stands at each of its places. */
interface Prepared {
  statement: StatementSync
  places: readonly number[]
}

/** Runs statements on a connection, keeping prepared ones. */
export function createRunner(database: DatabaseSync) {
  const prepared = new Map<string, Prepared>()

  const prepare = (text: string): Prepared => {
    const places: number[] = []
    // Values bound by position need no object for their names.
    const anonymous = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
      places.push(Number(number) - 1)
      return '?'
    })
    return { statement: database.prepare(anonymous), places }
  }
  const find = (statement: Statement): Prepared => {
    if (typeof statement !== 'string') return prepare(statement.unprepared)
    const ready = prepared.get(statement) ?? prepare(statement)
    prepared.set(statement, ready)
    return ready
  }
  const bind = ({ places }: Prepared, values: readonly Value[]) =>
    places.map((place) => bound(values[place]))

  return {
    all(text: Statement, values: readonly Value[] = []): Row[] {
      const query = find(text)
      return query.statement.all(...bind(query, values))
    },
    /** Returns how many rows were changed. */
    run(text: Statement, values: readonly Value[] = []): number {
      const query = find(text)
      return Number(query.statement.run(...bind(query, values)).changes)
    },
  }
}

/** Arrays are bound as JSON. */
function bound(value: Value): SQLInputValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return JSON.stringify(value)
  return value
}

const REMEDY = 'Set DATA_DIR to a directory that this user may write to, or change its owner.'

/** Creates the data directory if it is missing. Throws `store_unavailable`. */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await makeEach(resolve(directory))
  } catch (error) {
    throw unavailable(`Cannot make the data directory ${directory}. ${REMEDY}`, error)
  }
}

/** Like `mkdir` with `recursive`, which never ends where a folder takes no new names, such as `/proc`. */
async function makeEach(directory: string): Promise<void> {
  // Fails where it is a file.
  if (await exists(`${directory}/.`)) return
  await makeEach(dirname(directory))
  await mkdir(directory, { mode: PRIVATE })
}

const OF_OTHERS = 0o077
const SUFFIXES = ['', '-wal', '-shm']

/** Closes the files of a database to other users of the machine, and says if its folder is open to them. */
export async function keepPrivate(file: string, log?: Pick<Log, 'warn'>): Promise<void> {
  for (const path of SUFFIXES.map((suffix) => `${file}${suffix}`)) {
    await ignore(chmod(path, PRIVATE_FILE), 'not there, or on a disk without modes')
  }
  const directory = dirname(file)
  const { mode } = await stat(directory)
  if ((mode & OF_OTHERS) === 0) return
  const open = (mode & 0o777).toString(8)
  log?.warn(
    { directory, mode: open },
    `the data directory is open to other users of this machine: chmod 700 ${directory}`,
  )
}

interface DirectoryLock {
  release(): void
}

/**
 * Locks the data directory for this process. It is an operating-system lock on a separate file, so it ends with the
 * process, however that ends. Throws `store_unavailable` immediately if another process holds it.
 */
export function lockDirectory(directory: string): DirectoryLock {
  requireWritable(directory)
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(directory, 'agent-server.lock'), { timeout: 0 })
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (!isBusy(error)) throw unwritable(directory, error)
    throw unavailable(
      `Another server is using the data directory ${directory}. Stop it, or set DATA_DIR to another directory.`,
      error,
    )
  }
  const lock = file
  return { release: () => lock.close() }
}

/** SQLite opens a file that it may only read without a word, and fails at the first write. */
function requireWritable(directory: string): void {
  for (const path of [
    directory,
    ...SUFFIXES.map((suffix) => join(directory, DATABASE_FILE + suffix)),
  ]) {
    try {
      accessSync(path, constants.W_OK)
    } catch (error) {
      if (!isMissing(error)) throw unwritable(path, error)
    }
  }
}

const unwritable = (path: string, error: unknown) =>
  unavailable(`Cannot write in the data directory: ${path}. ${REMEDY}`, error)
