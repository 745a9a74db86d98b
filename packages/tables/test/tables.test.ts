import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { createRunnerHere } from '../../../test/support/run-job.ts'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { createTables } from '../src/create-tables.ts'
import type { RowCondition } from '../src/look-up.ts'
import { createFakeDocuments, type FakeTable } from './fake-documents.ts'

const { signal } = new AbortController()
const TABLES: FakeTable[] = [
  { id: '1', title: 'Sales.csv', content: 'region,amount\nnorth,1.5\nsouth,2.25\n' },
  { id: '2', title: 'Sales', file: 'sales.tsv', content: 'region\tamount\neast\t7\n' },
  { id: '3', title: 'Notes.md', content: 'no table' },
  { id: '4', file: 'Regions 2026.jsonl', content: '{"region":"north","manager":"Ada"}\n' },
  { id: '5', title: 'broken.parquet', content: 'x' },
]

async function open(tables: FakeTable[] = TABLES) {
  const parts = createFakeDocuments(tables)
  const { close, ...opened } = createTables({
    ...parts,
    directory: await temporaryDirectory(),
    run: createRunnerHere(),
  })
  const query = (sql: string, maximumRows = 100) =>
    opened.query({ sql, maximumRows, visibility: undefined, owner: undefined }, signal)
  const find = (conditions: RowCondition[], table = 'sales') =>
    opened.lookUp(
      { table, conditions, maximumRows: 10, visibility: undefined, owner: undefined },
      signal,
    )
  return { ...opened, reads: parts.reads, query, findRows: find, close }
}

describe('The catalogue of tables', () => {
  it('has the documents whose names end like tables, each under a name of its own', async () => {
    const { entries } = await open()
    expect(
      (await entries(undefined, signal)).map(({ name, title, format }) => [name, title, format]),
    ).toEqual([
      ['sales', 'Sales.csv', 'csv'],
      ['sales_2', 'Sales', 'tsv'],
      ['regions_2026', 'Regions 2026.jsonl', 'jsonl'],
      ['broken', 'broken.parquet', 'parquet'],
    ])
  })

  it('keeps the names of old tables when new ones come', async () => {
    const { entries } = await open([...TABLES, { id: '6', title: 'sales.csv', content: '' }])
    const names = (await entries(undefined, signal)).map(({ name }) => name)
    expect(names).toEqual(['sales', 'sales_2', 'regions_2026', 'broken', 'sales_3'])
  })

  it('is empty where there is nothing', async () => {
    expect(await (await open([])).entries(undefined, signal)).toEqual([])
  })
})

describe('A query', () => {
  it('reads the tables that it names, and no others', async () => {
    const { query, reads } = await open()
    const { rows, tables } = await query('SELECT sum(amount) FROM sales')
    expect(rows).toEqual([['3.75']])
    expect(tables.map(({ name, document }) => [name, document.id])).toEqual([['sales', '1']])
    expect(reads).toEqual(['1'])
  })

  it('joins tables of several documents and formats', async () => {
    const { query } = await open()
    const { rows, tables } = await query(`
      SELECT manager, amount FROM Sales JOIN REGIONS_2026 USING (region)
      UNION ALL SELECT 'none', amount FROM sales_2 ORDER BY manager`)
    expect(rows).toEqual([
      ['Ada', '1.50'],
      ['none', '7.00'],
    ])
    expect(tables).toHaveLength(3)
  })

  it('is told the tables of a document that has several', async () => {
    const content = 'Q1\nregion,amount\nnorth,1\n\nQ2\nregion,amount\neast,5\n'
    const { query, close } = await open([{ id: '1', file: 'Sales.csv', content }])
    await expect(query('SELECT count(*) FROM sales')).rejects.toThrow(
      'There is no table "sales": its document has sales__q1, sales__q2',
    )
    expect((await query('SELECT amount AS sales FROM sales__q2')).rows).toEqual([['5']])
    close()
  })

  it('needs no table at all', async () => {
    const { rows, tables } = await (await open()).query('SELECT 6 * 7 AS answer')
    expect([rows, tables]).toEqual([[[42]], []])
  })

  it.each([
    ['names a table that is none', 'SELECT * FROM broken', /cannot be read as a table/],
    ['names what is not there', 'SELECT * FROM nothing', /no table "nothing"/],
    ['lists the catalogue', 'FROM (SHOW ALL TABLES)', /list_tables names/],
    ['is wrong', 'SELEC 1', /syntax error/],
  ])('that %s is refused in words', async (_case, sql, words) => {
    const refused = await (await open()).query(sql).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(String(refused)).toMatch(words)
  })

  it('of too many tables is refused', async () => {
    const many = Array.from({ length: 21 }, (_, n) => ({
      id: String(n),
      title: `t${n}.csv`,
      content: 'a\n1\n',
    }))
    const sql = many.map((_table, n) => `SELECT * FROM t${n}`).join(' UNION ALL ')
    await expect((await open(many)).query(sql)).rejects.toThrow('At most 20 tables')
  })

  it('may ask of the system only if it is ours', onlyLong, async () => {
    const ask = async (isTrusted: boolean) => {
      const opened = await open()
      return opened.query(isTrusted ? 'SELECT 1 AS a' : 'SELECT * FROM duckdb_settings()')
    }
    expect((await ask(true)).rowCount).toBe(1)
    await expect(ask(false)).rejects.toThrow('duckdb_settings cannot be called')
  })
})

const SALES: FakeTable = {
  id: '1',
  title: 'Sales.csv',
  content: 'region,amount,day\nnorth,1.5,2026-01-02\nsouth,2.25,2026-01-03\nnorth,3,2026-02-01\n',
}
const NORTH: RowCondition = { field: 'region', equals: 'north' }

describe('Rows of a document', () => {
  it('are found, with the table that they are of', async () => {
    const { findRows } = await open([SALES])
    const { rows, rowCount, table } = await findRows([NORTH])
    expect(rows).toEqual([
      { row: 1, cells: ['north', '1.50', '2026-01-02'] },
      { row: 3, cells: ['north', '3.00', '2026-02-01'] },
    ])
    expect(rowCount).toBe(2)
    expect(table).toMatchObject({ name: 'sales', title: 'Sales.csv', document: { id: '1' } })
  })

  it('are of the document as it is now', async () => {
    const tables = [{ ...SALES, revision: 1 }]
    const { findRows } = await open(tables)
    await findRows([NORTH])
    tables[0] = { ...SALES, content: 'region,amount\nnorth,9\n', revision: 2 }
    expect((await findRows([NORTH])).rows).toEqual([{ row: 1, cells: ['north', '9'] }])
  })

  it.each([
    ['a table that is not there', 'nothing', /no table "nothing": list_tables/],
    ['a column that is not there', 'sales', /no column "colour"/],
  ])('are refused of %s, in words', async (_case, table, words) => {
    const { findRows } = await open([SALES])
    const refused = await findRows([{ field: 'colour', equals: 'red' }], table).catch(String)
    expect(refused).toMatch(words)
  })

  it('are not looked for in a document that is no table', async () => {
    const { findRows } = await open()
    await expect(findRows([NORTH], 'broken')).rejects.toThrow(Refusal)
  })

  it('are not found any more when the server has stopped', async () => {
    const { findRows, close } = await open([SALES])
    close()
    await expect(findRows([NORTH])).rejects.toThrow('The server stops')
  })
})
