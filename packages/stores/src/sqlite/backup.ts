import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { putInPlace } from '@agent-server/lib/files.ts'
import type { Backup, BackupRecord, BackupStart } from '../backup.ts'
import {
  checkedBackup,
  endClaims,
  readBackupFrom,
  refuseDataIn,
  type Tables,
  writeRows,
} from '../sql/backup.ts'
import { integer, type Row, text } from '../sql/query.ts'
import { DATABASE_FILE, lockDirectory, makeDirectory, openForWriting } from './connection.ts'
import { createTx, openExisting, openWhole } from './corpus.ts'
import { toStoreError, unavailable } from './error.ts'
import { MIGRATIONS, migrate, schemaVersion } from './migrate.ts'

/** The new database is built beside the one in use until it is complete, and then replaces it. */
const UNFINISHED_SUFFIX = '.importing'
const LOGS = ['-wal', '-shm', '-journal']

interface SqlitePlace {
  directory: string
  /** Paths of what was derived from an earlier database here; removed before another one replaces it. */
  derived: readonly string[]
}

/** The database in a data directory: read beside a running server, written while there is none. */
export function createSqliteBackup(place: SqlitePlace): Backup {
  const { directory } = place
  const file = join(directory, DATABASE_FILE)
  return {
    async *read(signal) {
      const database = openWhole(file)
      try {
        database.exec('BEGIN')
        yield* readBackupFrom(sourceOf(database), signal)
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database.close()
      }
    },

    async refuseData() {
      await makeDirectory(directory)
      const lock = lockDirectory(directory)
      try {
        await refuseData(file)
      } finally {
        lock.release()
      }
    },

    async write(records, beforeEnd, signal) {
      await replaceDatabase(place, async (unfinished) => {
        await refuseData(file)
        await fill(unfinished, checkedBackup(records, MIGRATIONS.length, signal))
        await beforeEnd()
      })
    },
  }
}

/** Replaces the database, while no server is running on it, by one that `build` makes beside it; else it stays. */
async function replaceDatabase(
  { directory, derived }: SqlitePlace,
  build: (unfinished: string) => Promise<void>,
): Promise<void> {
  await makeDirectory(directory)
  const lock = lockDirectory(directory)
  const file = join(directory, DATABASE_FILE)
  const unfinished = file + UNFINISHED_SUFFIX
  try {
    await removeDatabase(unfinished)
    await build(unfinished)
    for (const path of derived) await rm(path, { recursive: true, force: true })
    await removeDatabase(file)
    await putInPlace(unfinished, file)
  } catch (error) {
    await removeDatabase(unfinished)
    throw toStoreError(error)
  } finally {
    lock.release()
  }
}

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', ...LOGS]) await rm(`${file}${suffix}`, { force: true })
}

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`
const REFERENCES = `SELECT m.name AS child, f."table" AS parent
  FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`
const NUMBERS = 'SELECT name, seq FROM sqlite_sequence'

function tablesOf(database: DatabaseSync): Tables {
  const names = database
    .prepare(TABLES)
    .all()
    .map((row) => text(row, 'name'))
  const references = database.prepare(REFERENCES).all()
  return {
    names,
    references: references.map((row) => ({ from: text(row, 'child'), to: text(row, 'parent') })),
  }
}

function sourceOf(database: DatabaseSync) {
  const numbers = database.prepare(NUMBERS).all()
  return {
    tables: tablesOf(database),
    start: {
      schema: schemaVersion(database),
      store: 'SQLite' as const,
      numbers: Object.fromEntries(numbers.map((row) => [text(row, 'name'), integer(row, 'seq')])),
    },
    count: async (select: string) => integer(database.prepare(select).get(), 'n'),
    batches: (_table: string, select: string) => inBatches(database.prepare(select).iterate()),
  }
}

const MAX_ROWS = 500
const MAX_BATCH = 1_000_000

/** As many rows at a time as take about a megabyte, or one. */
async function* inBatches(rows: Iterable<Row>): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = []
  let size = 0
  for (const row of rows) {
    batch.push(row)
    for (const value of Object.values(row)) {
      size += typeof value === 'string' || value instanceof Uint8Array ? value.length : 1
    }
    if (size < MAX_BATCH && batch.length < MAX_ROWS) continue
    yield batch
    batch = []
    size = 0
  }
  yield batch
}

const REMEDY = 'Set DATA_DIR to an empty directory, or move what is there.'

async function refuseData(file: string): Promise<void> {
  using database = openExisting(file)
  if (!database || schemaVersion(database) === 0) return
  await refuseDataIn(createTx(database), tablesOf(database).names, REMEDY)
}

async function fill(file: string, records: AsyncIterable<BackupRecord>): Promise<void> {
  using database = openForWriting(file)
  // Until it has its name, a crash may take it; closing it makes it durable.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF')
  const tx = createTx(database)
  let start: BackupStart | undefined
  for await (const record of records) {
    if (record.kind === 'start') {
      start = record
      migrate(database, MIGRATIONS.slice(0, record.schema))
      continue
    }
    database.exec('BEGIN IMMEDIATE')
    await writeRows(tx, record)
    database.exec('COMMIT')
  }
  for (const [name, last] of Object.entries(start?.numbers ?? {})) {
    database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name)
    database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last)
  }
  await endClaims(tx)
  migrate(database)
  verify(database)
}

function verify(database: DatabaseSync): void {
  const outcome = text(database.prepare('PRAGMA integrity_check(1)').get(), 'integrity_check')
  const lost = database.prepare('PRAGMA foreign_key_check').get()
  if (outcome === 'ok' && !lost) return
  throw unavailable(`What was restored is not sound: ${lost ? JSON.stringify(lost) : outcome}`)
}
