import { boundedText, filledText, freeObject } from '@agent-server/lib/fields.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import { type JobRunner, runJobInTurn } from '@agent-server/lib/processes/child-process.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { z } from 'zod'
import {
  CHART_FONT,
  calendarOrder,
  layOnSide,
  layoutOf,
  pieLayers,
  wrapTitle,
} from './chart-layout.ts'
import type { ChartSpecification, RenderedChart } from './render.ts'

export const MAX_CHART_ROWS = 5_000
const MAX_COLUMNS = 30

const Value = z.union([boundedText(500), z.number(), z.boolean(), z.null()])

const ChannelObject = z
  .strictObject({
    field: filledText(200).optional(),
    type: z.enum(['quantitative', 'temporal', 'nominal', 'ordinal']).optional(),
    aggregate: z.enum(['count', 'sum', 'mean', 'median', 'min', 'max', 'distinct']).optional(),
    bin: z.boolean().optional(),
    timeUnit: z
      .enum(['year', 'yearquarter', 'yearmonth', 'yearmonthdate', 'month', 'day', 'hours'])
      .optional(),
    sort: z.enum(['ascending', 'descending', 'x', '-x', 'y', '-y']).optional(),
    stack: z.enum(['zero', 'normalize', 'none']).optional(),
    title: boundedText(200).optional(),
  })
  .refine(({ field, aggregate }) => field !== undefined || aggregate === 'count', {
    message: 'must have a field, or count as its aggregate',
  })

/** A channel, for which the name of a column is enough. The model is shown the fields only when it gets one wrong. */
const Channel = z
  .union([z.string(), freeObject()])
  .transform((channel) => (typeof channel === 'string' ? { field: channel } : channel))
  .pipe(ChannelObject)

const { type, aggregate, timeUnit, sort, stack } = ChannelObject.shape
const choices = (name: string, schema: { unwrap(): { options: readonly string[] } }) =>
  `- ${name}: ${schema.unwrap().options.join(', ')}`

/** What a channel may be, for a model that got one wrong. */
export const CHANNEL_HELP = [
  'A channel is the name of a column, or an object of these, all optional:',
  '- field: a column; left out where aggregate is count',
  choices('type', type),
  choices('aggregate', aggregate),
  '- bin: true groups numbers into ranges',
  choices('timeUnit', timeUnit),
  choices('sort', sort),
  choices('stack', stack),
  '- title',
].join('\n')

/** A length from 100 pixels to a maximum; what is outside is taken for the nearest. */
const pixels = (maximum: number) =>
  z.int().overwrite((length) => Math.min(Math.max(length, 100), maximum))

/** A chart as a model requests it: a subset of Vega-Lite without its expressions, URLs and files. */
export const ChartRequest = z
  .strictObject({
    title: boundedText(200).optional(),
    mark: z.enum(['bar', 'line', 'area', 'point', 'pie', 'heatmap', 'boxplot', 'tick']),
    x: Channel.optional(),
    y: Channel.optional(),
    color: Channel.optional(),
    size: Channel.optional(),
    theta: Channel.optional().describe('Pie slices; color names them.'),
    column: Channel.optional(),
    rows: z
      .array(freeObject().pipe(z.record(z.string().min(1).max(200), Value)))
      .min(1)
      .max(MAX_CHART_ROWS)
      .optional(),
    sql: filledText(10_000).optional(),
    width: pixels(1_600).default(640),
    height: pixels(1_200).default(400),
  })
  .refine(({ rows, sql }) => (rows === undefined) !== (sql === undefined), {
    message: 'must have either rows or sql',
  })
  .refine(({ rows = [] }) => rows.every((row) => Object.keys(row).length <= MAX_COLUMNS), {
    message: `must not have more than ${MAX_COLUMNS} columns`,
  })
  .refine(({ mark, x, y, theta, color }) => (mark === 'pie' ? theta && color : x || y), {
    message: 'a pie needs theta and color, any other chart x or y',
  })

export type ChartRequest = z.output<typeof ChartRequest>
type ChartChannel = z.output<typeof ChannelObject>
export type ChartRow = Record<string, string | number | boolean | null>

/** Marks that have another name in Vega-Lite. */
const MARK_NAMES: Readonly<Record<string, string>> = { pie: 'arc', heatmap: 'rect' }
const CHANNELS = ['x', 'y', 'color', 'size', 'theta', 'column'] as const
const SCHEMA = 'https://vega.github.io/schema/vega-lite/v6.json'

export const RENDERING = {
  task: 'Drawing the chart',
  advice: 'take fewer rows',
  module: new URL('./render.ts', import.meta.url),
  run: 'renderChart',
  heapMegabytes: 512,
  residentMegabytes: 1_024,
  deadlineMs: 30_000,
}
const Rendered = z.object({ svg: z.string(), png: z.instanceof(Uint8Array) })

export type Charts = ReturnType<typeof createCharts>

/** Draws charts, a few at a time, each in a separate process. */
export function createCharts(run: JobRunner = runJobInTurn) {
  return {
    /** Throws `Refusal`, worded for the model. */
    render: (
      input: ChartSpecification,
      owner: Owner,
      signal: AbortSignal,
    ): Promise<RenderedChart> => run(RENDERING, Rendered, { input, owner }, signal),
  }
}

/** Throws `Refusal`, which lists the existing columns, for a field that is not among them. */
export function toChartSpecification(
  requested: ChartRequest,
  rows: readonly ChartRow[],
): ChartSpecification {
  const request = layOnSide(requested, rows)
  const { title, mark, width, height } = request
  const columns = new Set(rows.flatMap((row) => Object.keys(row)))
  const encoding = Object.fromEntries(
    CHANNELS.flatMap((name) => {
      const channel = request[name]
      return channel ? [[name, toChannel(name, channel, { request, columns, rows })]] : []
    }),
  )
  const type = MARK_NAMES[mark] ?? mark
  return {
    $schema: SCHEMA,
    ...(title && { title: wrapTitle(title, width) }),
    width,
    height,
    background: 'white',
    data: { values: rows.map(plainNames) },
    ...(mark === 'pie'
      ? pieLayers(request, rows, encoding)
      : { mark: { type, ...(mark === 'line' && { point: rows.length <= 100 }) }, encoding }),
    config: { font: CHART_FONT },
  }
}

interface ChartData {
  request: ChartRequest
  columns: ReadonlySet<string>
  rows: readonly ChartRow[]
}

function toChannel(
  name: (typeof CHANNELS)[number],
  channel: ChartChannel,
  { request, columns, rows }: ChartData,
): Record<string, unknown> {
  const { field, type, title, stack, ...rest } = channel
  if (field !== undefined && !columns.has(field)) {
    throw new Refusal(`there is no column "${field}", only ${[...columns].join(', ')}`)
  }
  const resolved = type ?? typeOf(channel, rows)
  return {
    ...(field !== undefined && { field: plainName(field) }),
    type: rest.timeUnit && !type ? 'temporal' : resolved,
    title: wrapTitle(title ?? titleOf(channel), name === 'y' ? request.height : request.width),
    // By default in the order of the rows, except that names of a calendar get calendar order.
    ...(resolved === 'nominal' && { sort: calendarOrder(channel, rows) ?? null }),
    ...layoutOf(name, channel, request, rows),
    ...(stack && { stack: stack === 'none' ? null : stack }),
    ...rest,
  }
}

function titleOf({ field, aggregate }: ChartChannel): string {
  if (!aggregate) return field ?? ''
  return field === undefined ? aggregate : `${aggregate} of ${field}`
}

function typeOf({ field, aggregate, bin }: ChartChannel, rows: readonly ChartRow[]): string {
  if (aggregate !== undefined || bin === true) return 'quantitative'
  const values = rows.map((row) => row[field ?? '']).filter((value) => value != null)
  if (values.every((value) => typeof value === 'number')) return 'quantitative'
  const isDay = values.every((value) => /^\d{4}-\d\d-\d\d/.test(String(value)))
  return isDay ? 'temporal' : 'nominal'
}

/** Dots, brackets and quotes in a name would be parsed as a path into the row. */
function plainName(name: string): string {
  return name.replaceAll(/[.[\]\\'"]/g, '_')
}

function plainNames(row: ChartRow): ChartRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [plainName(name), value]))
}
