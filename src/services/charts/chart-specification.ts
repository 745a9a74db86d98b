import type { ChartChannel, ChartRequest, ChartRow } from './chart-request.ts'

/** A Vega-Lite specification, made of nothing but what was validated. */
export type ChartSpecification = Record<string, unknown>

const MARKS: Record<ChartRequest['mark'], string> = {
  bar: 'bar',
  line: 'line',
  area: 'area',
  point: 'point',
  pie: 'arc',
  heatmap: 'rect',
  boxplot: 'boxplot',
  tick: 'tick',
}
const CHANNELS = ['x', 'y', 'color', 'size', 'theta', 'column'] as const
const SCHEMA = 'https://vega.github.io/schema/vega-lite/v6.json'
export const CHART_FONT = 'DejaVu Sans'

/** Throws RangeError, naming the columns that there are, for a field that is none of them. */
export function toSpecification(
  request: ChartRequest,
  rows: readonly ChartRow[],
): ChartSpecification {
  const { title, mark, width, height } = request
  const columns = new Set(rows.flatMap((row) => Object.keys(row)))
  const encoding = CHANNELS.flatMap((name) => {
    const channel = request[name]
    return channel ? [[name, toChannel(channel, columns, rows)]] : []
  })
  return {
    $schema: SCHEMA,
    ...(title && { title }),
    ...{ width, height, background: 'white' },
    data: { values: rows.map(plainNames) },
    mark: { type: MARKS[mark], ...(mark === 'line' && { point: rows.length <= 100 }) },
    encoding: Object.fromEntries(encoding),
    config: { font: CHART_FONT },
  }
}

function toChannel(
  channel: ChartChannel,
  columns: ReadonlySet<string>,
  rows: readonly ChartRow[],
): Record<string, unknown> {
  const { field, type, title, stack, ...rest } = channel
  if (field !== undefined && !columns.has(field)) {
    throw new RangeError(`there is no column "${field}", only ${[...columns].join(', ')}`)
  }
  const isCounted = rest.aggregate !== undefined || rest.bin === true
  const told = type ?? (isCounted ? 'quantitative' : typeOf(field, rows))
  return {
    ...(field !== undefined && { field: plainName(field) }),
    type: rest.timeUnit && !type ? 'temporal' : told,
    title: title ?? titleOf(channel),
    // In the order of the rows, where nothing else is asked for.
    ...(told === 'nominal' && { sort: null }),
    ...(stack && { stack: stack === 'none' ? null : stack }),
    ...rest,
  }
}

function titleOf({ field, aggregate }: ChartChannel): string {
  if (!aggregate) return field ?? ''
  return field === undefined ? aggregate : `${aggregate} of ${field}`
}

function typeOf(field: string | undefined, rows: readonly ChartRow[]): string {
  const values = rows.map((row) => row[field ?? '']).filter((value) => value != null)
  if (values.every((value) => typeof value === 'number')) return 'quantitative'
  const isDay = values.every((value) => /^\d{4}-\d\d-\d\d/.test(String(value)))
  return isDay ? 'temporal' : 'nominal'
}

/** Points and brackets in a name would be read as a path into the row. */
function plainName(name: string): string {
  return name.replaceAll(/[.[\]\\'"]/g, '_')
}

function plainNames(row: ChartRow): ChartRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [plainName(name), value]))
}
