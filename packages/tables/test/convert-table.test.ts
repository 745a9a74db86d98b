import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { describe, expect, it, onTestFinished } from 'vitest'
import { long, onlyLong, someOf } from '../../../test/support/long.ts'
import { createRunnerHere } from '../../../test/support/run-job.ts'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import { createTables } from '../src/create-tables.ts'
import { withDatabase } from '../src/duckdb.ts'
import { quoteText } from '../src/table-job.ts'
import { createFakeDocuments, type FakeTable } from './fake-documents.ts'
import { readTables as read } from './read-tables.ts'

const GERMAN = [
  'Umsatz der Filialen 2024;;;;',
  '',
  'Filiale;Betrag;Anteil;Datum;PLZ',
  'München;67.091,80 €;12,5 %;03.05.2024;01067',
  'Köln;1.234,50 €;7 %;31.12.2024;50667',
  'Bonn;-;80,5 %;01.01.2024;53111',
  'Summe;68.326,30 €;100 %;;',
].join('\r\n')

it.each([
  ['Windows-1252', Buffer.from(GERMAN.replaceAll('€', '\u0080'), 'latin1')],
  ['UTF-16', Buffer.from(`\ufeff${GERMAN}`, 'utf16le')],
  ['UTF-8', Buffer.from(GERMAN)],
])(
  'A table in %s has numbers and days, and keeps what stands around it',
  async (_case, content) => {
    const [table] = await read(content)
    expect(table?.types).toEqual(['VARCHAR', 'DECIMAL(18,1)', 'DECIMAL(18,1)', 'DATE', 'VARCHAR'])
    expect(table?.values).toEqual([
      ['München', '67091.8', '12.5', '2024-05-03', '01067'],
      ['Köln', '1234.5', '7.0', '2024-12-31', '50667'],
      ['Bonn', null, '80.5', '2024-01-01', '53111'],
    ])
    expect(table?.notes).toEqual([
      'Umsatz der Filialen 2024',
      'Left out, as totals (1): Summe | 68.326,30 € | 100 %',
    ])
    const [, amount, share, day] = table?.columns ?? []
    expect(amount?.guess).toMatch(/67\.091,80 €, decimal comma, in €; 1 texts such as "-"/)
    expect(share?.guess).toMatch(/12\.5 means 12\.5 %/)
    expect(day?.guess).toBe('dates written as 03.05.2024, day before month')
  },
)

/** Of each kind one first: the rest is the long form. */
const VALUES = [
  ['5/13/2024', '2024-05-13', 'DATE'],
  ['13/5/2024', '2024-05-13', 'DATE'],
  ['13. Mai 2024', '2024-05-13', 'DATE'],
  ['2024年5月13日', '2024-05-13', 'DATE'],
  ['13.05.2024 14:30', '2024-05-13 14:30:00', 'TIMESTAMP'],
  ['5/13/2024 12:05 AM', '2024-05-13 00:05:00', 'TIMESTAMP'],
  ['31.02.2024', '31.02.2024', 'VARCHAR'],
  ['$1,234.50', '1234.5', 'DECIMAL(18,1)'],
  ['1 234,50 €', '1234.5', 'DECIMAL(18,1)'],
  ['(1,234,567)', '-1234567', 'BIGINT'],
  ['01067', '01067', 'VARCHAR'],
  ['192.168.100.200', '192.168.100.200', 'VARCHAR'],
  ['13-5-24', '2024-05-13', 'DATE'],
  ['2024/05/13', '2024-05-13', 'DATE'],
  ['13 mayo 2024', '2024-05-13', 'DATE'],
  ['13-Mar-24', '2024-03-13', 'DATE'],
  ['Mon, March 3rd, 2024', '2024-03-03', 'DATE'],
  ['2024-05-13T09:15:00Z', '2024-05-13 09:15:00', 'TIMESTAMP'],
  ["CHF 1'234.50", '1234.5', 'DECIMAL(18,1)'],
  ['1.234.567', '1234567', 'BIGINT'],
  ['12,50-', '-12.5', 'DECIMAL(18,1)'],
  ['1.234', '1.234', 'DECIMAL(18,3)'],
  ['12345678901234567890', '12345678901234567890', 'VARCHAR'],
  ['1.2.3', '1.2.3', 'VARCHAR'],
  ['ABC 12', 'ABC 12', 'VARCHAR'],
  ['12E3', '12E3', 'VARCHAR'],
  ['12,34,567', '1234567', 'BIGINT'],
  ['7.5 kg', '7.5', 'DECIMAL(18,1)'],
  ['40 m²', '40', 'BIGINT'],
  ['12B', '12B', 'VARCHAR'],
  ['+4570123456', '+4570123456', 'VARCHAR'],
  ['+45 701 234 567', '+45 701 234 567', 'VARCHAR'],
  ['1.5E-03', '0.0015', 'DECIMAL(18,4)'],
  ['2E+05', '200000.0', 'DECIMAL(18,1)'],
  ['+12', '12', 'BIGINT'],
  ['12345678901234567.25', '12345678901234567.25', 'VARCHAR'],
]

it.each(someOf(VALUES, 12))('%s is read as %s, %s', long, async (text, value, type) => {
  const [table] = await read(`name\tvalue\nx\t${text}\n`, 'tsv')
  expect([table?.values[0]?.[1], table?.types[1]]).toEqual([value, type])
})

it('Values with line breaks and quotation marks are queried as they are shown', async () => {
  const [table] = await read('id, note\n1, "a; b;\nc"\n2, "d ""e""; f\n3, x\n')
  expect(table?.values).toEqual([
    ['1', 'a; b;\nc'],
    ['2', '"d ""e""; f'],
    ['3', 'x'],
  ])
  const [backslashes] = await read('id,note\n1,"\\"a\\", b"\n2,c\n')
  expect(backslashes?.values[0]).toEqual(['1', '"a", b'])
})

it('A table whose columns are uncertain says so', async () => {
  const [table] = await read('x,y;z\na,b;c\nd,e;f\n')
  expect(table?.notes).toEqual([
    'The columns are uncertain: its values are divided at semicolons, though commas would divide them as evenly',
  ])
})

it('What is written in two ways, or in two currencies, stays text', async () => {
  const [table] = await read('a;b;c\n1,50;€ 1,50;5/13/2024\n1.25;$ 2,50;13/5/2024\n')
  expect(table?.types).toEqual(['VARCHAR', 'VARCHAR', 'VARCHAR'])
})

it('The rest of a file decides what one column leaves open', async () => {
  const [table] = await read(
    'n,price,day,start\n"1.234","1,50",3/4/2024,4/13/2024\n"2.500","2,75",5/6/2024,6/1/2024\n',
  )
  expect(table?.values[0]).toEqual(['1234', '1.50', '2024-03-04', '2024-04-13'])
})

it('Several tables of a file have their own names, also beside each other', async () => {
  const below = await read(
    'Q1\nregion,amount\nnorth,1\n\nQ2\nregion,amount,day\neast,5,2024-01-01\n',
  )
  expect(below.map(({ name, rows }) => [name, rows])).toEqual([
    ['Q1', 1],
    ['Q2', 1],
  ])
  const beside = await read('A,x,,B,y\n1,2,,q,3\n4,5,,,\n')
  expect(beside.map(({ columns, rows }) => [columns.map(({ name }) => name), rows])).toEqual([
    [['A', 'x'], 2],
    [['B', 'y'], 1],
  ])
})

it('A row named total that sums nothing is an ordinary row', async () => {
  const [table] = await read('company,amount\nShell,5\nTotal,7\nBP,3\n')
  expect(table?.rows).toBe(3)
  const [dated] = await read('day,amount\n2024-01-01,5\n2024-01-02,7\nTotal,12\n')
  expect([dated?.rows, dated?.types[0]]).toEqual([2, 'DATE'])
})

it('Text around a table is kept up to a readable amount', async () => {
  const remarks = 'a remark that stands alone,\n\n'.repeat(2_000)
  const long = 'long '.repeat(2_000)
  const [table] = await read(`${remarks}name,value,on\nx,1,${long}\ny,2,\nTotal,3,${long}\n`)
  expect(table?.rows).toBe(2)
  expect(table?.notes).toHaveLength(21)
  expect(table?.notes?.at(-1)?.length).toBeLessThan(1_100)
})

it('A file too large to be laid out has its title above the head all the same', {
  ...onlyLong,
  timeout: 120_000,
}, async () => {
  const lines = Array.from({ length: 700_000 }, (_, n) => `${n},"1.234,50",3.5.2024`)
  const [table] = await read(`Sales\n\nid,amount,day\n${lines.join('\n')}\n`)
  expect(table?.rows).toBe(700_000)
  expect(table?.types).toEqual(['BIGINT', 'DECIMAL(18,1)', 'DATE'])
  expect(table?.notes).toEqual(['Sales'])
})

const { signal } = new AbortController()
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types'
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
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
  const parts = names.map(
    (_, n) =>
      `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${CONTENT}.worksheet+xml"/>`,
  )
  return zipFile([
    {
      name: '[Content_Types].xml',
      content: `${HEAD}<Types xmlns="${TYPES}"><Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>${parts.join('')}</Types>`,
    },
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
    ...createFakeDocuments(tables),
    directory,
    run: createRunnerHere(),
  })
  onTestFinished(close)
  return (sql: string) =>
    query({ sql, maximumRows: 100, visibility: undefined, owner: undefined }, signal)
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

/** A workbook of one sheet, as a program writes it. */
function written(rows: unknown[][], formats: Record<string, string>, merges: string[] = []) {
  const sheet = utils.aoa_to_sheet(rows)
  for (const [place, format] of Object.entries(formats)) sheet[place].z = format
  sheet['!merges'] = merges.map((reference) => utils.decode_range(reference))
  return write(utils.book_new(sheet, 'Sheet'), { type: 'buffer' })
}

describe('Cells of a workbook', () => {
  it('are codes, words, times and durations by their formats, and units are told', async () => {
    const content = written(
      [
        ['code', 'price', 'share', 'opens', 'takes', 'mixed'],
        [421, 1.5, 0.125, 0.375, 1.5, 5],
        [17, 2.5, 0.25, 0.5, 0.25, 6],
      ],
      {
        ...{ A2: '00000', A3: '00000', B2: '0.00 "€"', B3: '0.00 "€"', C2: '0.0%', C3: '0.0%' },
        ...{ D2: 'hh:mm', D3: 'hh:mm', E2: '[h]:mm', E3: '[h]:mm', F2: '"$"0', F3: '"£"0' },
      },
    )
    const [table] = await read(content, 'xlsx')
    expect(table?.values).toEqual([
      ['00421', '1.5', '0.125', '09:00:00', '36:00:00', '$5'],
      ['00017', '2.5', '0.250', '12:00:00', '06:00:00', '£6'],
    ])
    expect(table?.types.slice(3)).toEqual(['TIME', 'INTERVAL', 'VARCHAR'])
    expect(table?.columns.map(({ guess }) => guess)).toEqual([
      undefined,
      'in €',
      '0.125 means 12.5 %',
      ...[undefined, undefined, undefined],
    ])
  })

  it('that are merged have their value in each row, and numbers are said to be repeated', async () => {
    const rows = [
      ['Watch', 'Name', 'Hours', 'Budget'],
      ['First', 'Ida', 6, 100],
      [null, 'Bo', 5, null],
      ['Second', 'Mira', 4, 50],
    ]
    const [table] = await read(written(rows, {}, ['A2:A3', 'D2:D3']), 'xlsx')
    expect(table?.values.map((row) => [row[0], row[3]])).toEqual([
      ['First', '100'],
      ['First', '100'],
      ['Second', '50'],
    ])
    expect(table?.notes).toEqual([
      'Numbers of merged cells are repeated in each of their rows and columns: count them once (Budget)',
    ])
  })
})

describe('Rows of a workbook', () => {
  it('are found by their sheet, each with its place in it', async () => {
    const content = workbook({ 'First half': ORDERS, Rest: ORDERS.slice(0, 2) })
    const { lookUp, close } = createTables({
      ...createFakeDocuments([{ id: '1', file: 'orders.xlsx', content }]),
      directory: await temporaryDirectory(),
      run: createRunnerHere(),
    })
    onTestFinished(close)
    const find = (table: string) => {
      const conditions = [{ field: 'day', prefix: '2026' }]
      return lookUp(
        { table, conditions, maximumRows: 10, visibility: undefined, owner: undefined },
        signal,
      )
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
