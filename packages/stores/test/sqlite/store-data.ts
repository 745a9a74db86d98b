import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore, type StoreData, useStores } from '../../../../test/contracts/open-store.ts'
import type { OpenedStore } from '../../src/opened-store.ts'
import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'

const TABLES = `SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name NOT IN ('meta', 'key_marks')`

export interface SqliteData extends StoreData {
  directory: string
  open(options?: { queueLimit: number }): Promise<OpenedStore>
  /** Opens the database beside the store, as an operator with a shell might. */
  database(): DatabaseSync
}

export async function createSqliteData(): Promise<SqliteData> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-store-'))
  const database = () => new DatabaseSync(join(directory, 'agent-server.db'), { timeout: 5_000 })
  return {
    directory,
    database,
    open: (options) => openDirectory(directory, options),
    async empty() {
      using opened = database()
      empty(opened)
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Deletes all but the chunk keys, which no store uses twice: far cheaper than the threads of a new store. */
function empty(database: DatabaseSync): void {
  database.exec('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE')
  const counted = database.prepare('SELECT changes + 1 AS changes FROM counts').get()
  for (const { name } of database.prepare(TABLES).all()) database.exec(`DELETE FROM ${name}`)
  database.exec(`INSERT INTO counts (slot, changes) VALUES (0, ${counted?.changes}); COMMIT`)
}

export function openDirectory(directory: string, { queueLimit } = { queueLimit: 1_000 }) {
  return createSqliteStore({ directory, queueLimit, onCrash: failOnCrash })
}

/** A store that is closed and removed after the test. */
export async function openSqliteStore(): Promise<OpenedStore> {
  return (await openStore(createSqliteData)).store
}

/** The same for a file of many tests, as a function: the threads of one store serve them one after the other. */
export function useSqliteStores(): () => Promise<OpenedStore> {
  const open = useStores(createSqliteData)
  return async () => (await open()).store
}

function failOnCrash(error: Error): void {
  throw error
}
