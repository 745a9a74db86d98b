import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Corpus, type CorpusRecord, checkedCorpus } from '../corpus.ts'
import { type CorpusTables, createCorpusWrites, readCorpusFrom } from '../sql/corpus.ts'
import type { Run } from '../sql/query.ts'
import { integer } from '../sql/rows.ts'
import { insertChunk, insertVectors } from './chunks.ts'
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

interface SqliteCorpusOptions {
  directory: string
  /** Paths of what was derived from an earlier database here; removed before another one replaces it. */
  derived: readonly string[]
}

/** The corpus in a data directory: read beside a running server, written while there is none. */
export function createSqliteCorpus({ directory, derived }: SqliteCorpusOptions): Corpus {
  const file = join(directory, DATABASE_FILE)
  return {
    async *readCorpus(signal, after) {
      const database = openWhole(file)
      try {
        database.exec('BEGIN')
        yield* readCorpusFrom(runOn(database), SQLITE, signal, after)
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database.close()
      }
    },

    async writeCorpus(records, signal) {
      await makeDirectory(directory)
      const lock = lockDirectory(directory)
      const unfinished = file + UNFINISHED_SUFFIX
      try {
        refuseUnlessEmpty(file)
        await removeDatabase(unfinished)
        await fill(unfinished, checkedCorpus(records, signal))
        for (const path of derived) await rm(path, { recursive: true, force: true })
        await putInPlace(unfinished, file, directory)
      } catch (error) {
        await removeDatabase(unfinished)
        throw toStoreError(error)
      } finally {
        lock.release()
      }
    },
  }
}

/** Throws `store_unavailable` unless there is a database of this server's own schema version. */
function openWhole(file: string): DatabaseSync {
  const database = openExisting(file)
  if (!database) throw unavailable(`There is no database ${file}: look at DATA_DIR`)
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

function openExisting(file: string): DatabaseSync | undefined {
  try {
    return openForReading(file)
  } catch (error) {
    if (error instanceof Error && /unable to open/.test(error.message)) return undefined
    throw error
  }
}

/** Throws `store_unavailable` if there are documents; an empty database counts as none. */
function refuseUnlessEmpty(file: string): void {
  const database = openExisting(file)
  if (!database) return
  try {
    if (schemaVersion(database) === 0) return
    const row = database.prepare('SELECT count(*) AS documents FROM documents').get()
    const documents = integer(row, 'documents')
    if (documents === 0) return
    throw unavailable(
      `There are ${documents} documents in ${file} already. Set DATA_DIR to an empty directory.`,
    )
  } finally {
    database.close()
  }
}

async function fill(file: string, records: AsyncIterable<CorpusRecord>): Promise<void> {
  const database = openForWriting(file)
  try {
    migrate(database)
    const writes = createCorpusWrites(runOn(database), tablesOf(database))
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

async function putInPlace(unfinished: string, file: string, directory: string): Promise<void> {
  await removeDatabase(file)
  await rename(unfinished, file)
  // The new name is durable once the directory is synced.
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', ...LOGS]) await rm(`${file}${suffix}`, { force: true })
}

function runOn(database: DatabaseSync): Run {
  const run = createRunner(database)
  return async (text, values) => run(text, values)
}

/** The triggers that count chunks only handle updates of a document's row, not inserts. */
const COUNT_CHUNKS = `
  UPDATE main.counts SET value = (SELECT count(*) FROM main.chunks) WHERE name = 'chunks'`

function tablesOf(database: DatabaseSync): CorpusTables {
  const sql = database.createTagStore()
  return {
    schema: 'main',
    job: 'INSERT INTO main.jobs (document, revision, run_at) VALUES ($1, $2, $3)',
    file: 'INSERT INTO main.files (document, revision) VALUES ($1, $2) RETURNING number',
    async insertChunks(document, revision, chunks) {
      for (const chunk of chunks) insertChunk(sql, document, revision, chunk)
    },
    insertVectors: async (vectors) => insertVectors(sql, vectors),
    counts: [COUNT_CHUNKS],
  }
}
