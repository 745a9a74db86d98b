import { Refusal } from '@agent-server/lib/refusal.ts'
import type { ChartSpecification, Charts } from '@agent-server/office-tools'
import type { StoredDocument } from '@agent-server/stores'
import type { TableAnswer } from '@agent-server/tables'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { makeChart } from '../../../src/agent/tools/make-chart.ts'
import { createContext } from './context-for-test.ts'
import { documentOf } from './stored-document.ts'

const { signal } = new AbortController()
const x = { field: 'city' }
const y = { field: 'n' }
const ROWS = [
  { city: 'Rome', n: 3 },
  { city: 'Oslo', n: 5 },
]
const ANSWER: TableAnswer<StoredDocument> = {
  columns: [
    { name: 'city', type: 'VARCHAR' },
    { name: 'n', type: 'DECIMAL(18,2)' },
    { name: 'zip', type: 'VARCHAR' },
  ],
  rows: [['Rome', '3.50', '00118']],
  rowCount: 1,
  isMore: false,
  tables: [
    {
      name: 'cities',
      title: 'cities.csv',
      table: 'table0',
      sheet: '',
      file: 'x',
      rows: 1,
      columns: [],
      document: documentOf({ id: 'doc', title: 'cities.csv', content: '' }),
    },
  ],
}

/** A fake that draws nothing, and keeps what it was to draw. */
function createChart({
  answer = ANSWER,
  refusal,
}: {
  answer?: TableAnswer<StoredDocument>
  refusal?: string
} = {}) {
  const drawn: ChartSpecification[] = []
  const charts: Charts = {
    async render(specification) {
      if (refusal) throw new Refusal(refusal)
      drawn.push(specification)
      return { svg: '<svg/>', png: Uint8Array.of(1, 2) }
    },
  }
  const tool = makeChart({ charts, tables: { query: async () => answer } })
  const context = createContext()
  return { drawn, context, run: (input: object) => tool.run(input, context, signal) }
}

describe('make_chart', () => {
  it('creates three files, and returns their names and the address of the picture', async () => {
    const { run, context } = createChart()
    const result = await run({ title: 'Big cities!', mark: 'bar', x, y, rows: ROWS })
    expect(context.artifacts.all().map(({ name, mediaType }) => [name, mediaType])).toEqual([
      ['Big-cities.png', 'image/png'],
      ['Big-cities.svg', 'image/svg+xml'],
      ['Big-cities.vl.json', 'application/json'],
    ])
    expect(result).toMatch(/^The chart of 2 rows is made\./)
    expect(result).toContain(
      'The user gets Big-cities.png (/artifacts/art_1), Big-cities.svg, Big-cities.vl.json.',
    )
  })

  it('keeps the data in the file of the specification', async () => {
    const { run, context } = createChart()
    await run({ mark: 'bar', x, y, rows: ROWS })
    const read = await context.store.read('art_3')
    expect(JSON.parse(Buffer.from(read?.bytes ?? []).toString())).toMatchObject({
      data: { values: ROWS },
    })
  })

  it('draws what a statement answers, exact numbers as numbers and other digits as text', async () => {
    const { run, drawn, context } = createChart()
    const result = await run({ mark: 'bar', x, y, sql: 'SELECT * FROM cities' })
    expect(drawn[0]?.data).toEqual({ values: [{ city: 'Rome', n: 3.5, zip: '00118' }] })
    expect(result).toContain('Sources to cite:\nk [1] cities: cities.csv')
    expect(context.citations.all()).toHaveLength(1)
  })

  it.each([
    ['a column that is not there', { x: { field: 'zebra' }, rows: ROWS }, {}, /only city, n/],
    ['too many rows', { x, sql: 'SELECT 1' }, { rowCount: 5_001 }, /5001 rows/],
    ['no rows', { x, sql: 'SELECT 1' }, { rowCount: 0, rows: [] }, /no rows/],
  ])('tells the model of %s', async (_case, input, more, words) => {
    const { run, context } = createChart({ answer: { ...ANSWER, ...more } })
    await expect(run({ mark: 'bar', ...input })).rejects.toThrow(words)
    expect(context.artifacts.all()).toEqual([])
  })

  it('draws what is too wide or too low as wide and as low as a chart may be', async () => {
    const { run, drawn } = createChart()
    await run({ mark: 'bar', x, rows: ROWS, width: 9_999, height: 1 })
    expect(drawn).toMatchObject([{ width: 1_600, height: 100 }])
  })

  it('reports to the model what cannot be drawn', async () => {
    const { run } = createChart({ refusal: 'The chart is too large' })
    const asked = run({ mark: 'bar', x, rows: ROWS })
    await expect(asked).rejects.toThrow(new Refusal('The chart is too large'))
  })

  it.each([
    ['what is no chart', {}, /a pie needs theta and color, any other chart x or y/],
    [
      'a channel that is none, and says what one is',
      { x: { column: 'city' } },
      /- aggregate: count, sum,/,
    ],
  ])('refuses %s', async (_case, input, words) => {
    const { run } = createChart()
    const asked = async () => run({ mark: 'bar', rows: ROWS, ...input })
    await expect(asked()).rejects.toThrow(ToolInputError)
    await expect(asked()).rejects.toThrow(words)
  })
})
