import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  CHANNEL_HELP,
  ChartRequest,
  type ChartRow,
  type Charts,
  MAX_CHART_ROWS,
  toChartSpecification,
} from '@agent-server/office-tools'
import { keyKindOf, type QueryResult } from '@agent-server/tables'
import { safeFileName } from './artifacts.ts'
import { defineTool, type Tool, type ToolContext } from './define-tool.ts'
import type { DocumentTables } from './document-tables.ts'
import { citeTables } from './table-tools.ts'

const DEADLINE_MS = 120_000

interface Dependencies {
  charts: Charts
  tables: Pick<DocumentTables, 'query'>
}

/** Draws a chart of rows, or of the result of a SQL query, as SVG, PNG and Vega-Lite. */
export function makeChart({ charts, tables }: Dependencies): Tool {
  return defineTool({
    name: 'make_chart',
    title: 'Make a chart',
    description:
      'Draw a chart of rows or of SQL over tables. Never invent data. A channel is a column or a Vega-Lite object of field, aggregate, bin, timeUnit, sort, stack, title.',
    input: ChartRequest,
    help: CHANNEL_HELP,
    deadlineMs: DEADLINE_MS,
    async run(request, context, signal) {
      const { rows, sources } = await dataOf(request, tables, context, signal)
      const specification = toChartSpecification(request, rows)
      const { svg, png } = await charts.render(specification, context.share, signal)
      const name = safeFileName(request.title ?? 'chart')
      const json = JSON.stringify(specification, undefined, 2)
      const files = [
        { name: `${name}.png`, mediaType: 'image/png', bytes: png },
        { name: `${name}.svg`, mediaType: 'image/svg+xml', bytes: Buffer.from(svg) },
        { name: `${name}.vl.json`, mediaType: 'application/json', bytes: Buffer.from(json) },
      ]
      const made = await Array.fromAsync(files, (file) => context.artifacts.add(file))
      const [picture, ...others] = made
      const also = others.map((artifact) => artifact.name).join(', ')
      return [
        `The chart of ${rows.length} rows is made. The user gets ${picture?.name} (${picture?.url}), ${also}.`,
        ...(sources ? [sources] : []),
      ].join('\n')
    },
  })
}

async function dataOf(
  { rows, sql }: ChartRequest,
  tables: Pick<DocumentTables, 'query'>,
  { visibility, share: owner, citations }: ToolContext,
  signal: AbortSignal,
): Promise<{ rows: ChartRow[]; sources?: string }> {
  if (sql === undefined) return { rows: rows ?? [] }
  const answer = await tables.query({ sql, visibility, owner, maximumRows: MAX_CHART_ROWS }, signal)
  if (answer.rowCount > MAX_CHART_ROWS) {
    throw new Refusal(`The query has ${answer.rowCount} rows; a chart takes ${MAX_CHART_ROWS}`)
  }
  if (answer.rowCount === 0) throw new Refusal('The query has no rows')
  return { rows: toRows(answer), sources: citeTables(answer, sql, citations) }
}

/** Converts exact numbers, which the engine returns as text, to numbers. */
function toRows({ columns, rows }: QueryResult): ChartRow[] {
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, type }, index) => {
        const value = row[index] ?? null
        const isNumber = typeof value === 'string' && keyKindOf(type) === 'number'
        return [name, isNumber ? Number(value) : value]
      }),
    ),
  )
}
