import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it } from 'vitest'
import { ChartRequest, type ChartRow, toChartSpecification } from '../../src/charts/charts.ts'

const ROWS: ChartRow[] = [
  { city: 'Rome', n: 3, day: '2026-01-01', open: true },
  { city: 'Oslo', n: 5, day: '2026-01-02T10:00:00', open: null },
]
const specify = (more: object, rows = ROWS) =>
  toChartSpecification(ChartRequest.parse({ mark: 'bar', rows, ...more }), rows)
const channel = (x: object, rows = ROWS) => specify({ x }, rows).encoding

describe('The specification of a chart', () => {
  it('holds the rows, the size, the font and the request', () => {
    const asked = {
      title: 'Cities',
      x: { field: 'city' },
      y: { field: 'n' },
      width: 200,
      height: 100,
    }
    expect(specify(asked)).toEqual({
      $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
      title: 'Cities',
      width: 200,
      height: 100,
      background: 'white',
      data: { values: ROWS },
      mark: { type: 'bar' },
      encoding: {
        x: {
          field: 'city',
          type: 'nominal',
          title: 'city',
          sort: null,
          axis: { labelLimit: 360, labelAngle: 0 },
        },
        y: { field: 'n', type: 'quantitative', title: 'n', axis: { tickMinStep: 1 } },
      },
      config: { font: 'DejaVu Sans' },
    })
  })

  it.each([
    ['bar', { type: 'bar' }],
    ['line', { type: 'line', point: true }],
    ['heatmap', { type: 'rect' }],
    ['boxplot', { type: 'boxplot' }],
  ])('has for a %s the mark %j', (mark, expected) => {
    const channels = { x: { field: 'city' }, theta: { field: 'n' }, color: { field: 'city' } }
    expect(specify({ mark, ...channels }).mark).toEqual(expected)
  })
})

describe('The type of a channel', () => {
  it.each([
    ['numbers', 'n', 'quantitative'],
    ['days and times', 'day', 'temporal'],
    ['words', 'city', 'nominal'],
    ['yes and no', 'open', 'nominal'],
  ])('of %s is told from them', (_case, field, type) => {
    expect(channel({ field })).toMatchObject({ x: { type } })
  })

  it('is the requested type, if there is one', () => {
    expect(channel({ field: 'n', type: 'ordinal' })).toMatchObject({ x: { type: 'ordinal' } })
  })

  it.each([
    [{ field: 'city', aggregate: 'distinct' }, 'quantitative'],
    [{ aggregate: 'count' }, 'quantitative'],
    [{ field: 'n', bin: true }, 'quantitative'],
    [{ field: 'day', timeUnit: 'yearmonth' }, 'temporal'],
  ])('of %j is %s', (x, type) => expect(channel(x)).toMatchObject({ x: { type } }))
})

describe('A channel', () => {
  it.each([
    [{ field: 'n', aggregate: 'sum' }, 'sum of n'],
    [{ aggregate: 'count' }, 'count'],
    [{ field: 'n' }, 'n'],
    [{ field: 'n', title: 'Number' }, 'Number'],
    [{ field: 'n', title: '' }, ''],
  ])('%j is titled %j', (x, title) => expect(channel(x)).toMatchObject({ x: { title } }))

  it('keeps the order of words in the rows, unless another is asked for', () => {
    expect(channel({ field: 'city' })).toMatchObject({ x: { sort: null } })
    expect(channel({ field: 'city', sort: '-y' })).toMatchObject({ x: { sort: '-y' } })
    expect(channel({ field: 'n' })).not.toHaveProperty('x.sort')
  })

  it('may be the name of a column alone', () => {
    expect(specify({ x: 'city', y: 'n' })).toEqual(
      specify({ x: { field: 'city' }, y: { field: 'n' } }),
    )
  })

  it('may be stacked, or not', () => {
    expect(channel({ field: 'n', stack: 'normalize' })).toMatchObject({ x: { stack: 'normalize' } })
    expect(channel({ field: 'n', stack: 'none' })).toMatchObject({ x: { stack: null } })
  })

  it('takes a column whose name would be read as a path', () => {
    const rows = [{ 'a.b[0]': 1 }]
    expect(channel({ field: 'a.b[0]' }, rows)).toMatchObject({
      x: { field: 'a_b_0_', title: 'a.b[0]' },
    })
    expect(specify({ x: { field: 'a.b[0]' } }, rows).data).toEqual({ values: [{ a_b_0_: 1 }] })
  })

  it('of an unknown column is refused, with the known ones', () => {
    expect(() => channel({ field: 'zebra' })).toThrow(
      new Refusal('there is no column "zebra", only city, n, day, open'),
    )
  })
})

describe('A chart has room for its words', () => {
  const departments = ['Department of Public Works and Transport', 'Education, Youth and Sports']
  const long = [...departments, 'Labour and Social Affairs'].map((name, n) => ({ name, n }))

  it('bars lie where their names would not fit below them', () => {
    const { encoding } = specify({ x: { field: 'name', sort: '-y' }, y: { field: 'n' } }, long)
    expect(encoding).toMatchObject({
      x: { field: 'n', axis: { tickMinStep: 1 } },
      y: { field: 'name', sort: '-x' },
    })
    const { encoding: line } = specify(
      { mark: 'line', x: { field: 'name' }, y: { field: 'n' } },
      long,
    )
    expect(line).toMatchObject({ x: { field: 'name', axis: { labelAngle: -35 } } })
  })

  it.each([
    [
      ['Fri', 'Mon', 'Sun'],
      ['Mon', 'Fri', 'Sun'],
    ],
    [
      ['Dezember', 'März', 'Januar'],
      ['Januar', 'März', 'Dezember'],
    ],
    [
      ['juin', 'août', 'mai'],
      ['mai', 'juin', 'août'],
    ],
    [['b', 'a'], null],
  ])('%j are in their order', (names, sort) => {
    const rows = names.map((when) => ({ when, n: 1.5 }))
    expect(channel({ field: 'when' }, rows)).toMatchObject({ x: { sort } })
  })

  it('axes of counts have whole numbers, others what they need', () => {
    expect(channel({ aggregate: 'count' })).toMatchObject({ x: { axis: { tickMinStep: 1 } } })
    expect(channel({ field: 'n', aggregate: 'mean' })).not.toHaveProperty('x.axis')
    expect(channel({ field: 'n' }, [{ n: 1.5 }])).not.toHaveProperty('x.axis')
  })

  it('long titles have several lines', () => {
    const title = 'Number of complaints in the first half of the year, by department'
    const lines = specify({ title, x: { field: 'n' }, width: 300 }).title
    expect(lines).toEqual(['Number of complaints in the first', 'half of the year, by department'])
  })

  it('small pies have labels of values, large ones do not', () => {
    const pie = (rows: ChartRow[]) =>
      specify({ mark: 'pie', theta: { field: 'n' }, color: { field: 'name' } }, rows)
    expect(pie(long).layer).toMatchObject([
      { mark: { type: 'arc' } },
      { mark: { type: 'text' }, encoding: { text: { field: 'n' } } },
    ])
    const many = Array.from({ length: 9 }, (_, n) => ({ name: `slice ${n}`, n }))
    expect(pie(many)).toMatchObject({ mark: { type: 'arc' } })
  })

  it('a legend stands below if it is too wide for the side', () => {
    const many = Array.from({ length: 40 }, (_, n) => ({ name: `number ${n} of many more`, n }))
    const legendOf = (rows: ChartRow[]) =>
      specify({ x: { field: 'n' }, color: { field: 'name' }, height: 200 }, rows).encoding
    expect(legendOf(many)).toMatchObject({ color: { legend: { orient: 'bottom', columns: 3 } } })
    expect(legendOf([{ name: 'a', n: 1 }])).toMatchObject({ color: { legend: { columns: 1 } } })
  })
})
