import { Refusal } from '@agent-server/lib/refusal.ts'
import { everything, narrowed, type Visibility } from '@agent-server/lib/visibility.ts'
import type { StoredDocument } from '@agent-server/stores'
import type { RowQuery, Table } from '@agent-server/tables'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import type { DocumentTables } from '../../../src/agent/tools/document-tables.ts'
import { lookupData } from '../../../src/agent/tools/lookup-data.ts'
import { createContext } from './context-for-test.ts'
import { createFakeDocuments } from './fake-lookup.ts'
import { documentOf } from './stored-document.ts'

const { signal } = new AbortController()

const TABLE: Table<StoredDocument> = {
  name: 'budget__q1',
  title: 'Budget.xlsx',
  sheet: 'Q1',
  file: 'x',
  table: 'table0',
  rows: 9,
  columns: [
    { name: 'item', type: 'VARCHAR' },
    { name: 'cost', type: 'DECIMAL(18,2)' },
  ],
  document: { ...documentOf({ id: 'doc', content: '' }), url: 'https://example.org/b' },
}

/** Fake tables: one, whose third and seventh row fit whatever is asked. */
function createFakeTables(
  asked: RowQuery<Visibility>[],
  isMore = false,
): Pick<DocumentTables, 'find' | 'lookUp'> {
  return {
    async find(name) {
      if (name !== TABLE.name) throw new Refusal(`There is no table "${name}"`)
      return TABLE
    },
    async lookUp(query) {
      asked.push(query)
      const rows = [
        { row: 3, cells: ['a "bolt"', '1.50'] },
        { row: 7, cells: [null, '2.00'] },
      ]
      if (query.table === 'empty') return { table: TABLE, rows: [], rowCount: 0, isMore }
      return { table: TABLE, rows, rowCount: 2, isMore: query.table === 'large' }
    },
  }
}

function create(texts: readonly string[] = ['a', 'b']) {
  const parts = createFakeDocuments(texts)
  const asked: RowQuery<Visibility>[] = []
  const tool = lookupData({ lookup: parts.lookup, tables: createFakeTables(asked) })
  return {
    ...parts,
    asked,
    run: (input: object, context = createContext()) => tool.run(input, context, signal),
  }
}

describe('lookup_data', () => {
  it('lists the fields where nothing is asked', async () => {
    expect(await create().run({})).toBe(
      'The fields of the metadata:\n- n: number, in 2 documents, from 0 to 1',
    )
  })

  it('gives each document with its metadata, as a source', async () => {
    const context = createContext()
    const result = await create().run({ conditions: [{ field: 'n', from: 0 }] }, context)
    expect(result).toBe('2 documents fit, 2 follow.\nk [1] Title 0: n=0\nk [2] Title 1: n=1')
    expect(context.citations.all()).toMatchObject([
      { documentId: 'd0', title: 'Title 0', text: 'Metadata: n=0', metadata: { n: 0 } },
      { documentId: 'd1' },
    ])
  })

  it.each([
    [
      { field: 'a', equals: 5 },
      { field: 'a', eq: 5 },
    ],
    [
      { field: 'a', equals: false },
      { field: 'a', eq: false },
    ],
    [
      { field: 'a', prefix: 'Ro' },
      { field: 'a', gte: 'Ro', lt: 'Ro\u{10ffff}' },
    ],
    [
      { field: 'a', from: 1 },
      { field: 'a', gte: 1 },
    ],
    [
      { field: 'a', from: 1, to: 2 },
      {
        and: [
          { field: 'a', gte: 1 },
          { field: 'a', lte: 2 },
        ],
      },
    ],
  ])('looks %j up as %j', async (condition, filter) => {
    const { run, queries, filters } = create()
    await run({ conditions: [condition], limit: 3 })
    expect(queries).toEqual([{ filter, limit: 3 }])
    expect(filters).toEqual([filter])
  })

  it('respects the visibility of the run', async () => {
    const { run, filters, visibilities } = create()
    const visibility = narrowed(everything(), { field: 'public', eq: true })
    await run({ conditions: [{ field: 'a', equals: 1 }] }, createContext({ visibility }))
    expect(filters).toEqual([{ field: 'a', eq: 1 }])
    expect(visibilities).toEqual([visibility])
  })

  it('reports that nothing matches', async () => {
    expect(await create([]).run({ conditions: [{ field: 'a', equals: 1 }] })).toBe(
      'No document fits.',
    )
  })

  it.each([
    { conditions: [{ field: 'a' }] },
    { conditions: [{ equals: 1 }] },
    { conditions: [{ field: 'a', like: '%' }] },
    { conditions: Array.from({ length: 11 }, () => ({ field: 'a', equals: 1 })) },
    { limit: 0 },
  ])('refuses %j', async (input) => {
    await expect((async () => create().run(input))()).rejects.toThrow(ToolInputError)
  })
})

describe('lookup_data over a table', () => {
  const COSTLY = { field: 'cost', from: 1, to: 2 }

  it('gives each row whole, as a source with document, sheet and row', async () => {
    const context = createContext()
    const { run, asked } = create()
    const result = await run({ table: 'budget__q1', conditions: [COSTLY], limit: 7 }, context)
    expect(result).toBe(
      '2 rows of budget__q1 fit, 2 follow.\nk [1] row 3: item="a \\"bolt\\"", cost=1.50\nk [2] row 7: item=, cost=2.00',
    )
    expect(asked).toEqual([
      {
        table: 'budget__q1',
        maximumRows: 7,
        visibility: context.visibility,
        conditions: [{ field: 'cost', from: 1, to: 2 }],
      },
    ])
    await run({ table: 'budget__q1', conditions: [COSTLY], limit: 51 })
    expect(asked.at(-1)?.maximumRows).toBe(50)
    expect(context.citations.all()).toMatchObject([
      {
        documentId: 'doc',
        title: 'Budget.xlsx',
        url: 'https://example.org/b',
        score: 1,
        sheet: 'Q1',
        row: 3,
        text: expect.stringContaining('Row 3 of budget__q1: item='),
      },
      { row: 7 },
    ])
  })

  it('gives a row that is found again its first number', async () => {
    const context = createContext()
    const { run } = create()
    const ask = () => run({ table: 'budget__q1', conditions: [COSTLY] }, context)
    expect(await ask()).toBe(await ask())
    expect(context.citations.all()).toHaveLength(2)
  })

  it('lists the columns where nothing is asked, and looks nothing up', async () => {
    const { run, asked } = create()
    expect(await run({ table: 'budget__q1' })).toBe(
      'The columns of budget__q1 (Budget.xlsx, 9 rows):\n- item: VARCHAR\n- cost: DECIMAL(18,2)',
    )
    expect(asked).toEqual([])
  })

  it('says where no row fits, and where more do than are counted', async () => {
    const { run } = create()
    expect(await run({ table: 'empty', conditions: [COSTLY] })).toMatch(/^No row of .* fits\.$/)
    expect(await run({ table: 'large', conditions: [COSTLY] })).toMatch(/^More than 2 rows/)
  })

  it('reports the reason of a refusal', async () => {
    await expect(create().run({ table: 'nothing' })).rejects.toThrow(Refusal)
  })

  it('respects the visibility of the run', async () => {
    const visibility = narrowed(everything(), { field: 'n', eq: 1 })
    const { run, asked } = create()
    await run({ table: 'budget__q1', conditions: [COSTLY] }, createContext({ visibility }))
    expect(asked[0]?.visibility).toEqual(visibility)
  })
})
