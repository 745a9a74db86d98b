import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { CorpusSource } from '../corpus.ts'
import { readAccepted } from '../sql/accepted.ts'
import { readCorpusFrom } from '../sql/corpus.ts'
import type { Tx } from '../sql/query.ts'
import { createRunner, DATABASE_FILE, openForReading } from './connection.ts'
import { toStoreError, unavailable } from './error.ts'
import { MIGRATIONS, schemaVersion } from './migrate.ts'

/** The corpus in a data directory, which a server may be using. */
export function createSqliteCorpus(directory: string): CorpusSource {
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

export function createTx(database: DatabaseSync): Tx {
  const { all, run } = createRunner(database)
  return {
    all: async (statement, values) => all(statement, values),
    one: async (statement, values) => all(statement, values)[0],
    run: async (statement, values) => run(statement, values),
  }
}
