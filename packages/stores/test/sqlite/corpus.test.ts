import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { describeCorpus } from '../../../../test/contracts/corpus.contract.ts'
import { createSqliteCorpus } from '../../src/sqlite/corpus.ts'
import { createSqliteData } from './store-data.ts'

const { signal } = new AbortController()

async function createPlace() {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const { directory } = data
  const derived = join(directory, 'index')
  return { ...data, derived, corpus: createSqliteCorpus({ directory, derived: [derived] }) }
}

describeCorpus('SQLite', createPlace)

it('A corpus is not written where a server runs', async () => {
  const { corpus, open } = await createPlace()
  const store = await open()
  await expect(corpus.writeCorpus(corpus.readCorpus(signal), signal)).rejects.toThrow(
    /Another server/,
  )
  await store.close()
})

it('A corpus takes the place of an empty database with all that was derived from it, and of no more', async () => {
  const from = await createPlace()
  const source = await from.open()
  await source.add({ id: 'a', text: 'x' })
  await source.close()
  const to = await createPlace()
  await (await to.open()).close()
  await mkdir(to.derived)
  await writeFile(
    join(to.directory, 'agent-server.db.importing'),
    'left over by one that was killed',
  )
  await to.corpus.writeCorpus(from.corpus.readCorpus(signal), signal)
  expect(await readdir(to.directory)).toEqual(['agent-server.db', 'agent-server.lock'])
})

it('A corpus leaves the keys of the server, and what it has accepted', async () => {
  const [from, to] = [await createPlace(), await createPlace()]
  await (await from.open()).close()
  const before = await to.open()
  const key = { id: 'a', name: 'A', scopes: ['query' as const], createdAt: 1, digest: 'd' }
  await before.keys.add(key, 1)
  await before.keys.addUse([{ id: 'a', lastUsedAt: 1 }])
  await before.skillCopies.keep('x', { digest: 'x', bytes: Uint8Array.of(1) }, undefined)
  await before.close()
  await to.corpus.writeCorpus(from.corpus.readCorpus(signal), signal)
  const store = await to.open()
  onTestFinished(store.close)
  expect(await store.keys.list()).toMatchObject([{ ...key, lastUsedAt: 1 }])
  expect(await store.skillCopies.accepted('x')).toBe('x')
})

it('A corpus leaves every table of the server as it was, and of the corpus nothing', async () => {
  const [from, to] = [await createPlace(), await createPlace()]
  await (await from.open()).close()
  await (await to.open()).close()
  const before = to.database()
  before.exec('PRAGMA foreign_keys = OFF')
  const filled = tablesOf(before).filter(
    // A database with documents is not replaced.
    (table) => table !== 'documents' && rowsIn(before, table) === 0 && fill(before, table),
  )
  before.close()
  await to.corpus.writeCorpus(from.corpus.readCorpus(signal), signal)
  using after = to.database()
  expect(filled.length).toBeGreaterThan(25)
  expect(filled.filter((table) => rowsIn(after, table) === 1).toSorted()).toEqual([
    'api_key_use',
    'api_keys',
    'artifacts',
    'audit',
    'collection_access',
    'collection_names',
    'collections',
    'conversation_items',
    'conversations',
    'evaluations',
    'feedback',
    'judged_questions',
    'mcp_accounts',
    'mcp_connections',
    'mcp_tools',
    'model_usage',
    'people',
    'reserved_collections',
    'runs',
    'sessions',
    'skill_copies',
    'usage_groups',
  ])
})

function tablesOf(database: DatabaseSync): string[] {
  const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
  return database
    .prepare(tables)
    .all()
    .map(({ name }) => String(name))
}

const rowsIn = (database: DatabaseSync, table: string) =>
  Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)

/** Adds a row that has something in each column. */
function fill(database: DatabaseSync, table: string): boolean {
  const columns = database.prepare(`PRAGMA table_info(${table})`).all()
  const values = columns.map(({ type }) =>
    type === 'BLOB' ? `x'00'` : type === 'TEXT' ? `'x'` : 1,
  )
  database.exec(`INSERT INTO ${table} VALUES (${values.join(', ')})`)
  return true
}

it.each([
  ['none', undefined, /There is no database/],
  ['one of an older server', 'PRAGMA user_version = 0', /start this one once/],
  ['one of a newer server', 'PRAGMA user_version = 99', /newer server/],
])('A corpus is not read out of %s', async (_what, change, reason) => {
  const { corpus, open, database } = await createPlace()
  if (change !== undefined) {
    await (await open()).close()
    database().exec(change)
  }
  await expect(Array.fromAsync(corpus.readCorpus(signal))).rejects.toThrow(reason)
})
