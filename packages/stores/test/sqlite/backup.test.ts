import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import type { BackupRecord } from '../../src/backup.ts'
import { createSqliteBackup } from '../../src/sqlite/backup.ts'
import { createSqliteData } from './store-data.ts'

const { signal } = new AbortController()
const nothing = async () => undefined

async function createPlace() {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const { directory } = data
  const derived = join(directory, 'index')
  return { ...data, derived, backup: createSqliteBackup({ directory, derived: [derived] }) }
}

/** A row in each table, all of which refer to one another. */
async function filled() {
  const place = await createPlace()
  await (await place.open()).close()
  using database = place.database()
  database.exec('PRAGMA foreign_keys = OFF')
  const tables = tablesOf(database)
  for (const table of tables) if (rowsIn(database, table) === 0) fill(database, table)
  return { ...place, tables }
}

function tablesOf(database: DatabaseSync): string[] {
  const rows = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
    .all()
  return rows.map(({ name }) => String(name))
}

const rowsIn = (database: DatabaseSync, table: string) =>
  Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)

function fill(database: DatabaseSync, table: string): void {
  const columns = database.prepare(`PRAGMA table_info(${table})`).all()
  const values = columns.map(({ type }) =>
    type === 'BLOB' ? `x'00ff'` : type === 'TEXT' ? `'"x"'` : type === 'REAL' ? 0.1 : 1,
  )
  database.exec(`INSERT INTO ${table} VALUES (${values.join(', ')})`)
}

const recordsOf = ({ backup }: Pick<Awaited<ReturnType<typeof createPlace>>, 'backup'>) =>
  Array.fromAsync(backup.read(signal))

it('A backup has the rows of every table but who is signed in, wants events or was there before', async () => {
  const from = await filled()
  const to = await createPlace()
  await to.backup.write(from.backup.read(signal), nothing, signal)
  using database = to.database()
  const empty = from.tables.filter((table) => rowsIn(database, table) === 0)
  expect(empty).toEqual(['announcers', 'sessions'])
  const [before, after] = [await recordsOf(from), await recordsOf(to)]
  // Nobody works on the job any more.
  const withoutJobs = (records: BackupRecord[]) =>
    records.filter((record) => record.kind === 'start' || record.table !== 'jobs')
  expect(withoutJobs(after)).toEqual(withoutJobs(before))
  expect(database.prepare('SELECT due_at FROM jobs').all()).toEqual([{ due_at: 0 }])
})

it('A restored database is another one than the original, and gives out no number twice', async () => {
  const [from, to] = [await createPlace(), await createPlace()]
  const store = await from.open()
  const identity = await store.identity()
  await store.close()
  using original = from.database()
  original.exec(`INSERT INTO judged_questions VALUES (7, 'q', '{}', 1, 1)`)
  original.exec('DELETE FROM judged_questions')
  await to.backup.write(from.backup.read(signal), nothing, signal)
  const restored = await to.open()
  expect(await restored.identity()).not.toBe(identity)
  await restored.close()
  using database = to.database()
  database.exec(
    `INSERT INTO judged_questions (id, json, created_at, updated_at) VALUES ('r', '{}', 1, 1)`,
  )
  expect(database.prepare('SELECT number FROM judged_questions').all()).toEqual([{ number: 8 }])
})

it('A backup is not restored where a server runs', async () => {
  const { backup, open } = await createPlace()
  const store = await open()
  await expect(backup.write(backup.read(signal), nothing, signal)).rejects.toThrow(/Another server/)
  await store.close()
})

it('A backup takes the place of an empty database with all that was derived from it, and of no more', async () => {
  const from = await filled()
  const to = await createPlace()
  await (await to.open()).close()
  await mkdir(to.derived)
  await writeFile(join(to.directory, 'agent-server.db.importing'), 'left over by a killed process')
  await to.backup.write(from.backup.read(signal), nothing, signal)
  expect(await readdir(to.directory)).toEqual(['agent-server.db', 'agent-server.lock'])
})

const DAMAGES: [string, (records: BackupRecord[]) => BackupRecord[], RegExp][] = [
  ['lacks rows', (records: BackupRecord[]) => records.slice(0, -1), /rows instead of 1/],
  ['has no beginning', () => [], /no beginning/],
  [
    'refers to what is missing',
    (records: BackupRecord[]) =>
      records.flatMap((record): BackupRecord[] => {
        if (record.kind === 'start') return [{ ...record, rows: { ...record.rows, people: 0 } }]
        return record.table === 'people' ? [] : [record]
      }),
    /not sound/,
  ],
]

it.each(DAMAGES)('A backup that %s leaves nothing behind', async (_how, change, reason) => {
  const from = await filled()
  const to = await createPlace()
  const records = change(await recordsOf(from))
  const stream = async function* (): AsyncGenerator<BackupRecord> {
    yield* records
  }
  await expect(to.backup.write(stream(), nothing, signal)).rejects.toThrow(reason)
  expect(await readdir(to.directory)).toEqual(['agent-server.lock'])
  await to.backup.write(from.backup.read(signal), nothing, signal)
  expect(await readdir(to.directory)).toContain('agent-server.db')
})

it('A backup of an older version is restored under its schema, and then migrated', async () => {
  const from = await filled()
  const to = await createPlace()
  const older = async function* (): AsyncGenerator<BackupRecord> {
    for await (const record of from.backup.read(signal)) {
      if (record.kind === 'start') yield { ...record, schema: 13, rows: { judged_questions: 1 } }
      else if (record.table === 'judged_questions') yield record
    }
  }
  await to.backup.write(older(), nothing, signal)
  const store = await to.open()
  expect(await store.questions.list()).toMatchObject([{ id: '"x"' }])
  await store.close()
})

it('A backup of a newer schema is refused, with the version that wrote it, and nothing changes', async () => {
  const [start, ...rows] = await recordsOf(await filled())
  if (start?.kind !== 'start') throw new Error('No beginning')
  const to = await createPlace()
  const newer = { ...start, schema: start.schema + 1, program: '0.2.0' }
  const writing = to.backup.write(Readable.from([newer, ...rows]), nothing, signal)
  await expect(writing).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^.*version 0\.2\.0 \(schema \d+; this is 0\.1\.0, which knows/),
  })
  expect(await readdir(to.directory)).toEqual(['agent-server.lock'])
})
