import { Refusal } from '@agent-server/lib/refusal.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import type { StoredDocument } from '@agent-server/stores'
import type { Table, TableEntry, TableQuery } from '@agent-server/tables'
import { describe, expect, it } from 'vitest'
import { safeFileName } from '../../../src/agent/tools/artifacts.ts'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { citeTables, renderRows, tableTools } from '../../../src/agent/tools/table-tools.ts'
import { createContext } from './context-for-test.ts'
import { documentOf } from './stored-document.ts'

const { signal } = new AbortController()
const document = documentOf({ id: 'doc', title: 'Sales.csv', content: 'a\n1\n' })
const entryOf = (name: string): TableEntry<StoredDocument> => ({
  name,
  title: `${name}.csv`,
  document,
  format: 'csv',
})
const tableOf = (name: string): Table<StoredDocument> => ({
  name,
  title: `${name}.csv`,
  document,
  file: 'x.duckdb',
  table: 'table0',
  sheet: '',
  rows: 3,
  columns: [{ name: 'a', type: 'BIGINT' }],
})

/** Fake tables that answer the same rows to every query, and refuse to open what is called `bad`. */
function createFakeTables(names: string[], rowCount = 2) {
  const queries: TableQuery<Visibility>[] = []
  const tables: Parameters<typeof tableTools>[0] = {
    entries: async () => names.map(entryOf),
    find: async (name) => tableOf(name.toLowerCase()),
    async open({ name }) {
      if (name === 'bad') throw new Refusal('It is damaged')
      if (name !== 'book') return [tableOf(name)]
      return ['q1', 'q2'].map((sheet) => ({ ...tableOf(name), name: `${name}__${sheet}` }))
    },
    async query(query) {
      queries.push(query)
      if (query.sql.includes('wrong')) throw new Refusal('Parser Error: wrong')
      const columns = [{ name: 'a', type: 'BIGINT' }]
      const rows = [['1'], ['2, "3"']]
      const notes = ['A title', 'Left out, as totals (1): Sum | 3']
      const table = { ...tableOf('sales'), ...(query.sql.includes('totals') && { notes }) }
      return { columns, rows, rowCount, isMore: rowCount >= 1_000_000, tables: [table] }
    },
  }
  const run = (name: string, input: object, context = createContext()) => {
    const tool = tableTools(tables).find((candidate) => candidate.name === name)
    if (!tool) throw new Error(`There is no ${name}`)
    return tool.run(input, context, signal)
  }
  return { run, queries }
}

describe('list_tables', () => {
  it('tells columns and rows of the first, and what is wrong with one', async () => {
    expect(await createFakeTables(['sales', 'bad']).run('list_tables', {})).toBe(
      '2 tables.\n- sales (sales.csv): 3 rows; a BIGINT\n- bad (bad.csv): It is damaged',
    )
  })

  it('names the rest, and says how many are left out', async () => {
    const names = Array.from({ length: 130 }, (_, n) => `t${n}`)
    const lines = (await createFakeTables(names).run('list_tables', {})).split('\n')
    expect(lines[0]).toBe('130 tables.')
    expect(lines[10]).toContain('3 rows')
    expect(lines[11]).toBe('- t10 (t10.csv)')
    expect(lines.at(-1)).toBe('and 30 more: search for them by name')
  })

  it('names each table of a document that has several, also of the rest', async () => {
    const names = [...Array.from({ length: 12 }, (_, n) => `t${n}`), 'book']
    const lines = (await createFakeTables(names).run('list_tables', {})).split('\n')
    expect(lines.slice(-2)).toEqual(['- book__q1 (book.csv)', '- book__q2 (book.csv)'])
  })

  it('looks in names and titles', async () => {
    const { run } = createFakeTables(['sales', 'stock'])
    expect(await run('list_tables', { search: 'STO' })).toMatch(/^1 tables\.\n- stock/)
    expect(await run('list_tables', { search: 'zebra' })).toBe('There are no such tables.')
  })
})

describe('describe_table', () => {
  it('asks for a summary and the first rows', async () => {
    const { run, queries } = createFakeTables(['sales'])
    expect(await run('describe_table', { table: 'Sales' })).toBe(
      '3 rows.\n\na\n1\n"2, ""3"""\n\nThe first rows:\na\n1\n"2, ""3"""',
    )
    expect(queries.map(({ isTrusted }) => isTrusted)).toEqual([true, true])
    expect(queries[1]).toMatchObject({ sql: 'SELECT * FROM "sales"', maximumRows: 5 })
  })

  it('cannot be made to run a statement by a name', async () => {
    const { run, queries } = createFakeTables(['sales'])
    await run('describe_table', { table: 'x" ; DROP TABLE y; --' })
    expect(queries[1]?.sql).toBe('SELECT * FROM "x"" ; drop table y; --"')
  })
})

describe('query_table', () => {
  it('tells the number of rows, the rows, and what to cite', async () => {
    const context = createContext()
    const { run } = createFakeTables(['sales'])
    expect(await run('query_table', { sql: 'SELECT a FROM sales' }, context)).toBe(
      'Sources to cite:\nk [1] sales: sales.csv\nRows: 2\na\n1\n"2, ""3"""',
    )
    expect(context.citations.all()).toMatchObject([
      { documentId: 'doc', title: 'sales.csv', text: expect.stringContaining('SELECT a FROM') },
    ])
  })

  it('says which rows of totals are left out of what it counts', async () => {
    const { run } = createFakeTables(['sales'])
    expect(await run('query_table', { sql: 'SELECT 1 AS totals' })).toContain(
      'sales.csv\nsales: Left out, as totals (1): Sum | 3\nRows: 2\n',
    )
  })

  it('gives the same statement one number, and another statement a new one', async () => {
    const context = createContext()
    const { run } = createFakeTables(['sales'])
    await run('query_table', { sql: 'SELECT 1' }, context)
    await run('query_table', { sql: 'SELECT 1' }, context)
    await run('query_table', { sql: 'SELECT 2' }, context)
    expect(context.citations.all()).toHaveLength(2)
  })

  it.each([
    [50, 'Rows: 50, of which the first 2 follow'],
    [1_000_000, 'Rows: more than 1000000, of which the first 2 follow'],
  ])('says of %i rows: %s', async (rowCount, lines) => {
    const { run } = createFakeTables(['sales'], rowCount)
    expect(await run('query_table', { sql: 'SELECT 1' })).toContain(lines)
  })

  it('passes on the visibility of the run and the limit', async () => {
    const { run, queries } = createFakeTables(['sales'])
    const visibility = forCaller({ collections: ['sales'] })
    await run('query_table', { sql: 'SELECT 1', maximumRows: 7 }, createContext({ visibility }))
    expect(queries).toEqual([{ sql: 'SELECT 1', maximumRows: 7, visibility }])
    await run('query_table', { sql: 'SELECT 1', maximumRows: 1_001 })
    expect(queries.at(-1)?.maximumRows).toBe(1_000)
  })

  it('tells the model what the engine refuses', async () => {
    const asked = createFakeTables(['sales']).run('query_table', { sql: 'SELECT wrong' })
    await expect(asked).rejects.toThrow(new Refusal('Parser Error: wrong'))
  })

  it.each([{}, { sql: ' ' }, { sql: 'SELECT 1', maximumRows: 0 }, { sql: 'x'.repeat(10_001) }])(
    'refuses %j',
    async (input) => {
      const asked = async () => createFakeTables(['sales']).run('query_table', input)
      await expect(asked()).rejects.toThrow(ToolInputError)
    },
  )
})

describe('Rows as text', () => {
  describe('rows', () => {
    const columns = [
      { name: 'a', type: 'VARCHAR' },
      { name: 'b,c', type: 'BIGINT' },
    ]

    it.each([
      [[], 'a,"b,c"'],
      [[['x', 1]], 'a,"b,c"\nx,1'],
      [[[null, true]], 'a,"b,c"\n,true'],
      [[['say "hi"', 0]], 'a,"b,c"\n"say ""hi""",0'],
      [[['two\nlines', 0]], 'a,"b,c"\n"two\nlines",0'],
    ])('%j are CSV', (rows, text) => expect(renderRows({ columns, rows })).toBe(text))
  })

  describe('the name of a file', () => {
    it.each([
      ['Visits 2026', 'Visits-2026'],
      ['../../etc/passwd', 'etc-passwd'],
      ['売上 – März', '売上-März'],
      ['!!!', 'file'],
      ['x'.repeat(100), 'x'.repeat(60)],
    ])('%j is %s', (words, name) => expect(safeFileName(words)).toBe(name))
  })
})

describe('A table as a source', () => {
  const document = {
    ...documentOf({ id: 'doc', title: 'Sales.csv', content: '' }),
    url: 'https://example.org/sales',
    metadata: { year: 2026 },
  }
  const table = {
    name: 'sales',
    title: 'Sales.csv',
    table: 't',
    sheet: '',
    file: 'x',
    rows: 3,
    columns: [],
    document,
  }

  it('is numbered after what was found before, with address and metadata of its document', () => {
    const { citations } = createContext()
    const answer = { tables: [table], rowCount: 3 }
    expect(citeTables(answer, 'SELECT 1', citations)).toBe(
      `Sources to cite:\n${citations.key} [1] sales: Sales.csv`,
    )
    expect(citations.all()).toEqual([
      {
        id: 'doc-table-sales-SELECT 1',
        score: 1,
        title: 'Sales.csv',
        documentId: 'doc',
        url: 'https://example.org/sales',
        metadata: { year: 2026 },
        start: 0,
        end: 0,
        text: 'Table sales, asked with SELECT 1: 3 rows',
      },
    ])
  })
})
