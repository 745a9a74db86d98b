import { z } from 'zod'
import { JobRefusal } from '../../lib/processes/job.ts'
import { filledText } from '../../schemas/fields.ts'
import type { Citations } from '../agent/citations.ts'
import { cite } from '../agent/citations.ts'
import type { TableEntry } from '../tables/catalogue.ts'
import type { QueryResult } from '../tables/table-job.ts'
import type { TableAnswer, Tables } from '../tables/tables.ts'
import { defineTool, type Tool } from './define-tool.ts'

const MAX_LISTED = 100
/** Maximum tables listed with their columns; each may have to be read first. */
const MAX_OPENED = 10
const SAMPLES = 5
const MAX_ROWS = 1_000
/** Maximum columns that are described. */
const MAX_DESCRIBED = 500
/** Maximum rows of a table whose distinct values are counted exactly. */
const MAX_COUNTED = 1_000_000
/** Mostly for the conversion of large files. */
const DEADLINE_MS = 180_000

type Asked = Pick<Tables, 'entries' | 'find' | 'open' | 'query'>

/** Tools for exact answers from documents that are tables: CSV, TSV, XLSX, Parquet and JSON lines. */
export function tableTools(tables: Asked): Tool[] {
  return [listTables(tables), describeTable(tables), queryTable(tables)]
}

function listTables(tables: Asked): Tool {
  return defineTool({
    name: 'list_tables',
    title: 'List tables',
    description:
      'List the documents that are tables (CSV, spreadsheets, Parquet, JSON lines), with their columns. Use it before query_table.',
    input: z.object({
      search: filledText(200).optional().describe('Only tables with this in their name or title.'),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ search = '' }, { filter }, signal) {
      const wanted = search.toLowerCase()
      const found = (await tables.entries(filter, signal)).filter(({ name, title }) =>
        `${name} ${title}`.toLowerCase().includes(wanted),
      )
      if (found.length === 0) return 'There are no such tables.'
      const opened = await Promise.all(
        found.slice(0, MAX_OPENED).map((entry) => describeEntry(tables, entry, signal)),
      )
      const named = found.slice(MAX_OPENED, MAX_LISTED).map(toLine)
      return [`${found.length} tables.`, ...opened, ...named, more(found.length)].join('\n').trim()
    },
  })
}

function describeTable(tables: Asked): Tool {
  return defineTool({
    name: 'describe_table',
    title: 'Describe a table',
    description:
      'The columns of a table with type, range and number of distinct values, how texts were read as numbers and dates, and its first rows.',
    input: z.object({ table: filledText(200).describe('A name from list_tables.') }),
    deadlineMs: DEADLINE_MS,
    async run({ table }, { filter }, signal) {
      const { name, rows, columns, notes = [] } = await tables.find(table, filter, signal)
      const quoted = `"${name.replaceAll('"', '')}"`
      const ask = (sql: string, maximumRows: number) =>
        tables.query({ sql, maximumRows, filter, isTrusted: true }, signal)
      const [summary, distinct, sample] = await Promise.all([
        ask(
          `SELECT column_name, column_type, min, max, approx_unique, null_percentage FROM (SUMMARIZE ${quoted})`,
          MAX_DESCRIBED,
        ),
        rows > MAX_COUNTED ? undefined : countDistinct(ask, quoted, columns),
        ask(`SELECT * FROM ${quoted}`, SAMPLES),
      ])
      const guesses = columns.flatMap((column) =>
        column.guess ? [`- ${column.name}: ${column.guess}`] : [],
      )
      return [
        `${rows} rows.`,
        ...(notes.length > 0 ? [`Around the table: ${notes.join(' / ')}`] : []),
        renderRows(withDistinct(summary, distinct)),
        ...(guesses.length > 0 ? [`Guessed from the texts:\n${guesses.join('\n')}`] : []),
        `The first rows:\n${renderRows(sample)}`,
      ].join('\n\n')
    },
  })
}

/** The number of distinct values of each column; undefined if counting them takes too many resources. */
async function countDistinct(
  ask: (sql: string, maximumRows: number) => Promise<QueryResult>,
  table: string,
  columns: readonly { name: string }[],
): Promise<Map<string, string> | undefined> {
  const counts = columns.slice(0, MAX_DESCRIBED).map(({ name }, index) => {
    const column = `"${name.replaceAll('"', '""')}"`
    return `SELECT ${index} AS place, count(DISTINCT ${column}) AS n FROM ${table}`
  })
  try {
    const { rows } = await ask(counts.join(' UNION ALL '), MAX_DESCRIBED)
    return new Map(
      rows.map(([place, count]) => [columns[Number(place)]?.name ?? '', String(count)]),
    )
  } catch (error) {
    if (error instanceof JobRefusal) return undefined
    throw error
  }
}

/** Replaces the approximate counts in the engine's summary by exact ones, if there are any. */
function withDistinct(
  { columns, rows }: QueryResult,
  distinct: ReadonlyMap<string, string> | undefined,
): Pick<QueryResult, 'columns' | 'rows'> {
  const name = distinct ? 'distinct' : 'approximately_distinct'
  return {
    columns: columns.map((column) =>
      column.name === 'approx_unique' ? { ...column, name } : column,
    ),
    rows: rows.map((row) =>
      row.map((cell, index) =>
        columns[index]?.name === 'approx_unique' ? (distinct?.get(String(row[0])) ?? cell) : cell,
      ),
    ),
  }
}

function queryTable(tables: Asked): Tool {
  return defineTool({
    name: 'query_table',
    title: 'Query tables',
    description:
      'Run one read-only SQL SELECT (DuckDB dialect) over the tables of list_tables. For anything that has to be counted, summed, compared or joined: the answer is exact, passages are not.',
    input: z.object({
      sql: filledText(10_000).describe('One SELECT.'),
      maximumRows: z.int().min(1).max(MAX_ROWS).default(100),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ sql, maximumRows }, { filter, citations }, signal) {
      const answer = await tables.query({ sql, maximumRows, filter }, signal)
      const { rows, rowCount, isMore } = answer
      const all = isMore ? `more than ${rowCount}` : String(rowCount)
      const shown =
        rows.length < rowCount ? `${all}, of which the first ${rows.length} follow` : all
      return `${citeTables(answer, sql, citations)}\n\nSQL: ${sql}\nRows: ${shown}\n${renderRows(answer)}`
    },
  })
}

async function describeEntry(
  tables: Asked,
  entry: TableEntry,
  signal: AbortSignal,
): Promise<string> {
  try {
    const opened = await tables.open(entry, signal)
    return opened
      .map(({ name, title, rows, columns }) => {
        const described = columns.map((column) => `${column.name} ${column.type}`).join(', ')
        return `- ${name} (${title}): ${rows} rows; ${described}`
      })
      .join('\n')
  } catch (error) {
    if (!(error instanceof JobRefusal)) throw error
    return `${toLine(entry)}: ${error.message}`
  }
}

const toLine = ({ name, title }: TableEntry) => `- ${name} (${title})`

const more = (count: number) =>
  count > MAX_LISTED ? `and ${count - MAX_LISTED} more: search for them by name` : ''

/** Makes each queried table a citable source; returns the list of their numbers. */
export function citeTables(
  { tables, rowCount }: Pick<TableAnswer, 'tables' | 'rowCount'>,
  sql: string,
  citations: Citations,
): string {
  const lines = tables.map(({ name, sheet, title, document }) => {
    const source = cite(
      citations,
      { ...document, title },
      {
        id: `${document.id}-table-${name}-${sql}`,
        text: `Table ${name}, asked with ${sql}: ${rowCount} rows`,
        ...(sheet !== '' && { sheet }),
      },
    )
    return `${source} ${name}: ${title}${sheet && `, sheet ${sheet}`}`
  })
  return `Sources to cite:\n${lines.join('\n')}`
}

/** Renders rows as CSV, which models read well and which takes the fewest tokens. */
export function renderRows({ columns, rows }: Pick<QueryResult, 'columns' | 'rows'>): string {
  const head = columns.map(({ name }) => toField(name)).join(',')
  return [head, ...rows.map((row) => row.map(toField).join(','))].join('\n')
}

function toField(value: QueryResult['rows'][number][number]): string {
  if (value === null) return ''
  const text = String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
