import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { quoteText, withDatabase } from '../../../src/services/tables/duckdb.ts'
import { createTables } from '../../../src/services/tables/tables.ts'
import { onlyLong } from '../../support/long.ts'
import { createRunnerHere } from '../../support/run-job.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { zipFile } from '../../support/zip-file.ts'
import { createFakeLookup, type FakeTable } from './stored-table.ts'

const { signal } = new AbortController()
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships'
/** The first style is plain, the second a day (number format 14 of the standard). */
const STYLES = `${HEAD}<styleSheet xmlns="${SHEETS}"><cellXfs count="2"><xf numFmtId="0"/>
  <xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`
/** The day number that a workbook keeps for 2026-01-02. */
const SECOND_OF_JANUARY = 46_024

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`
const number = (value: number) => `<c><v>${value}</v></c>`
const day = (value: number) => `<c s="1"><v>${value}</v></c>`

/** A workbook of sheets whose cells are given row by row. */
function workbook(sheets: Record<string, string[][]>): Buffer {
  const names = Object.keys(sheets)
  const listed = names.map((name, n) => `<sheet name="${name}" sheetId="${n + 1}" r:id="r${n}"/>`)
  const relations = names.map(
    (_, n) =>
      `<Relationship Id="r${n}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${n}.xml"/>`,
  )
  return zipFile([
    {
      name: 'xl/workbook.xml',
      content: `${HEAD}<workbook xmlns="${SHEETS}" xmlns:r="${RELATIONS}"><sheets>${listed.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${HEAD}<Relationships xmlns="${PACKAGE}">${relations.join('')}<Relationship Id="s" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: 'xl/styles.xml', content: STYLES },
    ...Object.values(sheets).map((rows, n) => ({
      name: `xl/worksheets/sheet${n}.xml`,
      content: `${HEAD}<worksheet xmlns="${SHEETS}"><sheetData>${rows.map(toRow).join('')}</sheetData></worksheet>`,
    })),
  ])
}

function toRow(cells: string[], row: number): string {
  const placed = cells.map((cell, column) =>
    cell.replace('<c', `<c r="${String.fromCharCode(65 + column)}${row + 1}"`),
  )
  return `<row r="${row + 1}">${placed.join('')}</row>`
}

/** The Parquet file of what a statement selects. */
async function parquet(sql: string): Promise<Uint8Array> {
  const path = join(await temporaryDirectory(), 'written.parquet')
  await withDatabase(':memory:', (connection) =>
    connection.run(`COPY (${sql}) TO ${quoteText(path)} (FORMAT parquet)`),
  )
  return readFile(path)
}

async function open(tables: FakeTable[]) {
  const directory = await temporaryDirectory()
  const { query, close } = createTables({
    ...createFakeLookup(tables),
    directory,
    run: createRunnerHere(),
  })
  onTestFinished(close)
  return (sql: string) => query({ sql, maximumRows: 100, filter: undefined }, signal)
}

const ORDERS = [
  [text('day'), text('amount'), text('region')],
  [day(SECOND_OF_JANUARY), number(0.1), text('north')],
  [day(SECOND_OF_JANUARY + 31), number(0.2), text('south')],
]

describe('A workbook', () => {
  it('has days as days and amounts as decimals', async () => {
    const query = await open([
      { id: '1', file: 'orders.xlsx', content: workbook({ Orders: ORDERS }) },
    ])
    const { columns, rows } = await query('SELECT day, amount, region FROM orders ORDER BY day')
    expect(columns.map(({ type }) => type)).toEqual(['DATE', 'DECIMAL(18,1)', 'VARCHAR'])
    expect(rows).toEqual([
      ['2026-01-02', '0.1', 'north'],
      ['2026-02-02', '0.2', 'south'],
    ])
    expect((await query('SELECT sum(amount) FROM orders')).rows).toEqual([['0.3']])
  })

  it('may have a number that is no day where days are', async () => {
    const rows = [...ORDERS, [day(1e9), number(0.5), text('east')]]
    const query = await open([
      { id: '1', file: 'orders.xlsx', content: workbook({ Orders: rows }) },
    ])
    expect((await query('SELECT day, amount FROM orders ORDER BY amount DESC')).rows).toEqual([
      [null, '0.5'],
      ['2026-02-02', '0.2'],
      ['2026-01-02', '0.1'],
    ])
  })
})

describe('Rows of a workbook', () => {
  it('are found by their sheet, each with its place in it', async () => {
    const content = workbook({ 'First half': ORDERS, Rest: ORDERS.slice(0, 2) })
    const { lookUp, close } = createTables({
      ...createFakeLookup([{ id: '1', file: 'orders.xlsx', content }]),
      directory: await temporaryDirectory(),
      run: createRunnerHere(),
    })
    onTestFinished(close)
    const find = (table: string) => {
      const conditions = [{ field: 'day', prefix: '2026' }]
      return lookUp({ table, conditions, maximumRows: 10, filter: undefined }, signal)
    }
    const found = await find('orders__first_half')
    expect(found.table).toMatchObject({ sheet: 'First half', document: { id: '1' } })
    expect(found.rows).toEqual([
      { row: 1, cells: ['2026-01-02', '0.1', 'north'] },
      { row: 2, cells: ['2026-02-02', '0.2', 'south'] },
    ])
    expect((await find('orders__rest')).rowCount).toBe(1)
    await expect(find('orders')).rejects.toThrow('There is no table "orders"')
  })
})

describe('A Parquet file', () => {
  const AMOUNTS = `SELECT * FROM (VALUES ('north', 1.25::DECIMAL(9,2), DATE '2026-01-02'),
    ('south', 2.50, NULL)) AS t(region, amount, day)`

  it('keeps the types that it was written with', async () => {
    const query = await open([
      { id: '1', file: 'amounts.parquet', content: await parquet(AMOUNTS) },
    ])
    const { columns, rows } = await query('SELECT * FROM amounts ORDER BY region')
    expect(columns.map(({ type }) => type)).toEqual(['VARCHAR', 'DECIMAL(9,2)', 'DATE'])
    expect(rows).toEqual([
      ['north', '1.25', '2026-01-02'],
      ['south', '2.50', null],
    ])
  })

  it('is joined with a workbook', onlyLong, async () => {
    const query = await open([
      { id: '1', file: 'amounts.parquet', content: await parquet(AMOUNTS) },
      { id: '2', file: 'orders.xlsx', content: workbook({ Orders: ORDERS }) },
    ])
    const { rows } = await query(`SELECT region, a.amount + o.amount AS total
      FROM amounts a JOIN orders o USING (region) ORDER BY region`)
    expect(rows).toEqual([
      ['north', '1.35'],
      ['south', '2.70'],
    ])
  })
})
