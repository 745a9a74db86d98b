import { mkdir, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JobRefusal } from '../../../src/lib/processes/job.ts'
import { makeRoom } from '../../../src/services/tables/table-files.ts'
import type { RowCondition } from '../../../src/services/tables/table-job.ts'
import { createTables } from '../../../src/services/tables/tables.ts'
import { onlyLong } from '../../support/long.ts'
import { createRunnerHere } from '../../support/run-job.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createFakeLookup, type FakeTable } from './stored-table.ts'

const { signal } = new AbortController()
const SALES = 'region,amount,day\nnorth,1.5,2026-01-02\nsouth,2.25,2026-01-03\nnorth,3,2026-02-01\n'
const NORTH: RowCondition = { field: 'region', equals: 'north' }

const STORED: FakeTable[] = [{ id: '1', title: 'Sales.csv', content: SALES }]

async function open(tables: FakeTable[] = STORED) {
  const directory = await temporaryDirectory()
  const { lookup, store, reads } = createFakeLookup(tables)
  const opened = createTables({ lookup, store, directory, run: createRunnerHere() })
  const find = (conditions: RowCondition[], table = 'sales') =>
    opened.lookUp({ table, conditions, maximumRows: 10, filter: undefined }, signal)
  return { find, reads, directory, close: opened.close }
}

const indexesIn = async (directory: string) =>
  (await readdir(directory)).filter((name) => name.endsWith('.sqlite'))

describe('Rows of a document', () => {
  it('are found, with the table that they are of', async () => {
    const { find, close } = await open()
    const { rows, rowCount, table } = await find([NORTH])
    expect(rows).toEqual([
      { row: 1, cells: ['north', '1.50', '2026-01-02'] },
      { row: 3, cells: ['north', '3.00', '2026-02-01'] },
    ])
    expect(rowCount).toBe(2)
    expect(table).toMatchObject({ name: 'sales', title: 'Sales.csv', document: { id: '1' } })
    close()
  })

  it('are indexed once, also for many who ask at the same time', onlyLong, async () => {
    const { find, directory, reads, close } = await open()
    const found = await Promise.all(Array.from({ length: 5 }, () => find([NORTH])))
    expect(found.map(({ rowCount }) => rowCount)).toEqual([2, 2, 2, 2, 2])
    const [name = ''] = await indexesIn(directory)
    const before = await stat(join(directory, name))
    await find([NORTH])
    expect(await stat(join(directory, name))).toEqual(before)
    expect(reads).toEqual(['1'])
    close()
  })

  it('are of the document as it is now', async () => {
    const tables = [{ id: '1', title: 'Sales.csv', content: SALES, revision: 1 }]
    const { find, directory, close } = await open(tables)
    await find([NORTH])
    tables[0] = { id: '1', title: 'Sales.csv', content: 'region,amount\nnorth,9\n', revision: 2 }
    expect((await find([NORTH])).rows).toEqual([{ row: 1, cells: ['north', '9'] }])
    expect(await indexesIn(directory)).toHaveLength(2)
    close()
  })

  it.each([
    ['a table that is not there', 'nothing', /no table "nothing": list_tables/],
    ['a column that is not there', 'sales', /no column "colour"/],
  ])('are refused of %s, in words', async (_case, table, words) => {
    const { find, close } = await open()
    const refused = await find([{ field: 'colour', equals: 'red' }], table).catch(String)
    expect(refused).toMatch(words)
    close()
  })

  it('are not looked for in a document that is no table', async () => {
    const { find, close } = await open([{ id: '1', title: 'broken.parquet', content: 'x' }])
    await expect(find([NORTH], 'broken')).rejects.toThrow(JobRefusal)
    close()
  })

  it('are not found any more when the server has stopped', async () => {
    const { find, close } = await open()
    close()
    await expect(find([NORTH])).rejects.toThrow('The server stops')
  })
})

describe('The directory of tables', () => {
  it('loses the oldest first where room is short, and nothing else', async () => {
    const directory = await temporaryDirectory()
    for (const [age, name] of ['c.duckdb', 'b.table0.sqlite', 'a.duckdb', 'a.json'].entries()) {
      await writeFile(join(directory, name), 'x'.repeat(100))
      await utimes(join(directory, name), 1_000 - age, 1_000 - age)
    }
    await makeRoom(directory, 250)
    expect((await readdir(directory)).toSorted()).toEqual(['a.json', 'b.table0.sqlite', 'c.duckdb'])
    await makeRoom(directory, 250)
    expect(await readdir(directory)).toHaveLength(3)
  })

  it('is no less made where a file goes while its size is read', async () => {
    const directory = await temporaryDirectory()
    await symlink(join(directory, 'nowhere'), join(directory, 'gone.duckdb'))
    await writeFile(join(directory, 'a.duckdb'), 'x'.repeat(100))
    await makeRoom(directory, 50)
    expect(await readdir(directory)).not.toContain('a.duckdb')
  })

  it('keeps finished indexes over a restart, and no half of one', onlyLong, async () => {
    const { directory, find, close } = await open()
    await find([NORTH])
    close()
    const [name = ''] = await indexesIn(directory)
    await mkdir(join(directory, `${name}.work`))
    const again = createTables({ ...createFakeLookup(STORED), directory })
    const asked = { table: 'sales', conditions: [NORTH], maximumRows: 10, filter: undefined }
    expect((await again.lookUp(asked, signal)).rowCount).toBe(2)
    expect(await readdir(directory)).toContain(name)
    expect(await readdir(directory)).not.toContain(`${name}.work`)
    again.close()
  })
})
