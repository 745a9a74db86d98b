import { z } from 'zod'
import { boundedText, filledText } from '../../schemas/text.ts'

export const MOST_CHART_ROWS = 5_000
const MOST_COLUMNS = 30

const Value = z.union([boundedText(500), z.number(), z.boolean(), z.null()])

const Channel = z
  .strictObject({
    field: filledText(200).optional().describe('A column; left out where `aggregate` is count.'),
    type: z
      .enum(['quantitative', 'temporal', 'nominal', 'ordinal'])
      .optional()
      .describe('Told from the values where it is left out.'),
    aggregate: z.enum(['count', 'sum', 'mean', 'median', 'min', 'max', 'distinct']).optional(),
    bin: z.boolean().optional().describe('Groups numbers into ranges, as in a histogram.'),
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

export const CHART_MARKS = [
  'bar',
  'line',
  'area',
  'point',
  'pie',
  'heatmap',
  'boxplot',
  'tick',
] as const

/** A chart as a model asks for it: what Vega-Lite draws, without its expressions, addresses and files. */
export const ChartRequest = z
  .strictObject({
    title: boundedText(200).optional(),
    mark: z.enum(CHART_MARKS),
    x: Channel.optional(),
    y: Channel.optional(),
    color: Channel.optional(),
    size: Channel.optional(),
    theta: Channel.optional().describe('The size of the slices of a pie.'),
    column: Channel.optional().describe('One small chart beside the other for each value.'),
    rows: z
      .array(z.record(z.string().min(1).max(200), Value))
      .min(1)
      .max(MOST_CHART_ROWS)
      .optional()
      .describe('The data, unless `sql` is given.'),
    sql: filledText(10_000)
      .optional()
      .describe('The data as a query over the tables of list_tables, unless `rows` are given.'),
    width: z.int().min(100).max(1_600).default(640),
    height: z.int().min(100).max(1_200).default(400),
  })
  .refine(({ rows, sql }) => (rows === undefined) !== (sql === undefined), {
    message: 'must have either rows or sql',
  })
  .refine(({ rows = [] }) => rows.every((row) => Object.keys(row).length <= MOST_COLUMNS), {
    message: `must not have more than ${MOST_COLUMNS} columns`,
  })
  .refine(({ mark, x, y, theta, color }) => (mark === 'pie' ? theta && color : x || y), {
    message: 'a pie needs theta and color, any other chart x or y',
  })

export type ChartRequest = z.output<typeof ChartRequest>
export type ChartChannel = z.output<typeof Channel>
export type ChartRow = Record<string, string | number | boolean | null>
