import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { putInPlace } from '@agent-server/lib/files.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import { type Corpus, type CorpusRecord, checkedCorpus } from '../corpus.ts'
import { addAccepted, readAccepted } from '../sql/accepted.ts'
import { createCorpusWrites, readCorpusFrom } from '../sql/corpus.ts'
import { integer, type Tx } from '../sql/query.ts'
import {
  createRunner,
  DATABASE_FILE,
  lockDirectory,
  makeDirectory,
  openForReading,
  openForWriting,
} from './connection.ts'
import { SQLITE } from './dialect.ts'
import { toStoreError, unavailable } from './error.ts'
import { MIGRATIONS, migrate, schemaVersion } from './migrate.ts'

/** The new database is built beside the one in use until it is complete, and then replaces it. */
const UNFINISHED_SUFFIX = '.importing'
const LOGS = ['-wal', '-shm', '-journal']
const RECORDS_PER_TRANSACTION = 200

export interface SqlitePlace {
  directory: string
  /** Paths of what was derived from an earlier database here; removed before another one replaces it. */
  derived: readonly string[]
}

/** The corpus in a data directory: read beside a running server, written while there is none. */
export function createSqliteCorpus({ directory, derived }: SqlitePlace): Corpus {
  const file = join(directory, DATABASE_FILE)
  return {
    async *readCorpus(signal, after) {
      const database = openWhole(file)
      try {
        database.exec('BEGIN')
        yield* readCorpusFrom(createTx(database), signal, after)
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database.close()
      }
    },

    async writeCorpus(records, signal) {
      await replaceDatabase({ directory, derived }, async (unfinished) => {
        const isThere = isEmptyThere(file)
        await fill(unfinished, checkedCorpus(records, signal), isThere ? file : undefined)
      })
    },

    async readAccepted() {
      const database = openWhole(file)
      try {
        return await readAccepted(createTx(database))
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database.close()
      }
    },

    async addAccepted(accepted) {
      const lock = lockDirectory(directory)
      let database: DatabaseSync | undefined
      try {
        database = openForWriting(file)
        database.exec('BEGIN IMMEDIATE')
        await addAccepted(createTx(database), accepted)
        database.exec('COMMIT')
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database?.close()
        lock.release()
      }
    },
  }
}

/** Replaces the database, while no server is running on it, by one that `build` makes beside it; else it stays. */
export async function replaceDatabase(
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

/** Throws `store_unavailable` unless there is a database of this server's own schema version. */
export function openWhole(file: string): DatabaseSync {
  const database = openExisting(file)
  if (!database) throw unavailable(`There is no database ${file}: check DATA_DIR`)
  try {
    if (schemaVersion(database) === MIGRATIONS.length) return database
    throw unavailable(
      'The database is of an older server: start this one once to bring it up to date',
    )
  } catch (error) {
    database.close()
    throw error
  }
}

export function openExisting(file: string): DatabaseSync | undefined {
  try {
    return openForReading(file)
  } catch (error) {
    if (error instanceof Error && /unable to open/.test(error.message)) return undefined
    throw error
  }
}

/** Whether there is a database. Throws `store_unavailable` if it holds documents. */
function isEmptyThere(file: string): boolean {
  const database = openExisting(file)
  if (!database) return false
  try {
    if (schemaVersion(database) === 0) return false
    const row = database.prepare('SELECT count(*) AS documents FROM documents').get()
    const documents = integer(row, 'documents')
    if (documents === 0) return true
    throw unavailable(
      `${file} already contains ${counted(documents, 'document')}. Set DATA_DIR to an empty directory.`,
    )
  } finally {
    database.close()
  }
}

/** The tables of the corpus; whatever else the database has belongs to the server, and stays. */
const OF_CORPUS = new Set([
  'access_entries',
  'announcements',
  'announcers',
  'chunk_contexts',
  'chunks',
  'contents',
  'counts',
  'documents',
  'embeddings',
  'file_pieces',
  'files',
  'idempotency_keys',
  'jobs',
  'key_marks',
  'meta',
  'metadata',
  'next_vectors',
  'replacements',
  'schema_version',
  'sources',
  'vectors',
])

function tablesOfServer(database: DatabaseSync): string[] {
  const tables = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
  return tables.map(({ name }) => String(name)).filter((name) => !OF_CORPUS.has(name))
}

async function fill(
  file: string,
  records: AsyncIterable<CorpusRecord>,
  before: string | undefined,
): Promise<void> {
  const database = openForWriting(file)
  try {
    migrate(database)
    if (before !== undefined) {
      database.prepare('ATTACH DATABASE ? AS before').run(before)
      // What rows refer to is there already, or copied later.
      database.exec('PRAGMA foreign_keys = OFF')
      for (const table of tablesOfServer(database)) {
        database.exec(`INSERT INTO ${table} SELECT * FROM before.${table}`)
      }
      database.exec('PRAGMA foreign_keys = ON')
      database.exec('DETACH DATABASE before')
    }
    const writes = createCorpusWrites(createTx(database), SQLITE)
    let inTransaction = 0
    for await (const record of records) {
      if (inTransaction === 0) database.exec('BEGIN IMMEDIATE')
      await writes.add(record)
      inTransaction = (inTransaction + 1) % RECORDS_PER_TRANSACTION
      if (inTransaction === 0) database.exec('COMMIT')
    }
    if (!database.isTransaction) database.exec('BEGIN IMMEDIATE')
    await writes.end()
    database.exec('COMMIT')
  } finally {
    // Uncommitted changes are rolled back; the log is merged into the file.
    database.close()
  }
}

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', ...LOGS]) await rm(`${file}${suffix}`, { force: true })
}

export function createTx(database: DatabaseSync): Tx {
  const { all, run } = createRunner(database)
  return {
    all: async (statement, values) => all(statement, values),
    one: async (statement, values) => all(statement, values)[0],
    run: async (statement, values) => run(statement, values),
  }
}
