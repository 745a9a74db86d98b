import { execFile } from 'node:child_process'
import { glob, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openDirectory } from '../../packages/stores/test/sqlite/store-data.ts'
import { lastTime, moveTimes } from '../support/age.ts'
import { fillEverything } from '../support/frozen/fill.ts'
import { inventoryOf } from '../support/frozen/inventory.ts'
import { FROZEN, isFreezing, MAX_BYTES, openFrozen } from '../support/frozen/open.ts'
import { ARCHIVE, INVENTORY, thawed } from '../support/frozen/thaw.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const LONG_MS = 180_000
const DAY_MS = 86_400_000
const INTEGERS = `SELECT m.name AS tableName, c.name AS columnName
  FROM sqlite_schema m, pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND c.type = 'INTEGER'`

function usageDay(file: string): number {
  using database = new DatabaseSync(file)
  return Number(database.prepare('SELECT max(day) AS day FROM model_usage').get()?.day)
}

it.runIf(isFreezing)(
  'The data of a version are frozen (needs FREEZE_DATA=1)',
  { timeout: LONG_MS },
  async () => {
    const parent = await temporaryDirectory()
    const directory = join(parent, 'data')
    await mkdir(directory)
    await fillEverything(directory, {}, () => openDirectory(directory))
    {
      using database = new DatabaseSync(join(directory, 'agent-server.db'))
      // No path of the machine stays: of a document from a watched folder there is one, in two places.
      for (const column of ['documents.metadata', 'metadata.string']) {
        const [table, name] = column.split('.')
        database.exec(`UPDATE ${table} SET ${name} = replace(${name}, '${parent}', '/srv')`)
      }
      database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
    }
    await mkdir(FROZEN, { recursive: true })
    await run('tar', ['-czf', ARCHIVE, '--exclude=index', '--exclude=tables', '-C', parent, 'data'])
    const server = await openFrozen({ DATA_DIR: await thawed() })
    await writeFile(INVENTORY, `${JSON.stringify(await inventoryOf(server), null, 1)}\n`)
  },
)

describe('The data that 0.1.0 wrote', () => {
  it('have a row in every table of that version, in little room', async () => {
    expect((await stat(ARCHIVE)).size).toBeLessThan(MAX_BYTES)
    using database = new DatabaseSync(join(await thawed(), 'agent-server.db'))
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
      .all()
    const empty = tables.filter(
      ({ name }) => !database.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get(),
    )
    expect(empty.map(({ name }) => name)).toEqual([])
    expect(tables.length).toBeGreaterThan(40)
  })

  it('name no path of the machine that made them', async () => {
    const directory = await thawed()
    for await (const path of glob([`${FROZEN}/*.{json,sql}`, `${directory}/**/*.{db,json}`])) {
      const found = /\/agent-server-\w{6}\//.exec(await readFile(path, 'latin1'))
      expect([path, found?.[0]]).toEqual([path, undefined])
    }
  })

  it('are moved to another year with every time in them, and the days of usage', async () => {
    const file = join(await thawed(), 'agent-server.db')
    const [last, day] = [lastTime(file), usageDay(file)]
    moveTimes(file, 400 * DAY_MS)
    expect(usageDay(file)).toBe(day + 400)
    using database = new DatabaseSync(file)
    const columns = database.prepare(INTEGERS).all()
    const left = columns.filter(({ tableName, columnName }) =>
      database
        .prepare(`SELECT 1 FROM ${tableName} WHERE ${columnName} BETWEEN ? AND ? LIMIT 1`)
        .get(last - 60 * DAY_MS, last + 60 * DAY_MS),
    )
    expect(left).toEqual([])
    expect(columns.length).toBeGreaterThan(100)
  })

  it('are opened by this version, which finds all of them', { timeout: LONG_MS }, async () => {
    const server = await openFrozen({ DATA_DIR: await thawed() })
    const kept = JSON.parse(await readFile(INVENTORY, 'utf8'))
    expect(await inventoryOf(server)).toEqual(kept)
  })
})
