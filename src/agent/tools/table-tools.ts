import { countUpTo, filledText } from '@agent-server/lib/fields.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import type { StoredDocument } from '@agent-server/stores'
import {
  type QueryResult,
  quoteName,
  type TableAnswer,
  type TableEntry,
} from '@agent-server/tables'
import { z } from 'zod'
import type { Citations } from '../citations/citations.ts'
import { cite } from '../citations/citations.ts'
import { defineTool, type Tool } from './define-tool.ts'
import type { DocumentTables } from './document-tables.ts'

const MAX_LISTED = 100
/** Maximum tables listed with their columns; each may have to be read first. */
const MAX_OPENED = 10
const SAMPLES = 5
const MAX_ROWS = 1_000
/** Maximum columns that are described. */
const MAX_DESCRIBED = 500
const SUMMARY =
  'column_name, column_type, min, max, approx_unique AS approximately_distinct, null_percentage'
/** How long documents are read only to know the names of their tables. */
const NAMING_MS = 10_000
/** Mostly for the conversion of large files. */
const DEADLINE_MS = 180_000

type TableReads = Pick<DocumentTables, 'entries' | 'find' | 'open' | 'query'>

/** Tools for exact answers from documents that are tables: CSV, TSV, XLSX, Parquet and JSON lines. */
export function tableTools(tables: TableReads): Tool[] {
  return [listTables(tables), describeTable(tables), queryTable(tables)]
}

function listTables(tables: TableReads): Tool {
  return defineTool({
    name: 'list_tables',
    title: 'List tables',
    description: 'List the documents that are tables, with their columns.',
    input: z.object({
      search: filledText(200).optional(),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ search = '' }, { visibility, share: owner }, signal) {
      const lowerCase = search.toLowerCase()
      const matches = (await tables.entries(visibility, signal)).filter(({ name, title }) =>
        `${name} ${title}`.toLowerCase().includes(lowerCase),
      )
      if (matches.length === 0) return 'There are no such tables.'
      const opened = await Promise.all(
        matches.slice(0, MAX_OPENED).map((entry) => describeEntry(tables, entry, owner, signal)),
      )
      const soon = AbortSignal.any([signal, AbortSignal.timeout(NAMING_MS)])
      // One after the other, so that the caller's other work goes on.
      const rest = matches.slice(MAX_OPENED, MAX_LISTED)
      const names = await Array.fromAsync(rest, (entry) => nameTables(tables, entry, owner, soon))
      signal.throwIfAborted()
      return [`${matches.length} tables.`, ...opened, ...names, more(matches.length)]
        .join('\n')
        .trim()
    },
  })
}

function describeTable(tables: TableReads): Tool {
  return defineTool({
    name: 'describe_table',
    title: 'Describe a table',
    description: 'Columns of a table, with type, range and values, and its first rows.',
    input: z.object({ table: filledText(200) }),
    deadlineMs: DEADLINE_MS,
    async run({ table }, { visibility, share: owner }, signal) {
      const reader = { visibility, owner }
      const { name, rows, columns, notes = [] } = await tables.find(table, reader, signal)
      const ask = (sql: string, maximumRows: number) =>
        tables.query({ sql, maximumRows, ...reader, isTrusted: true }, signal)
      const summarised = `SUMMARIZE ${quoteName(name)}`
      const [summary, sample] = await Promise.all([
        ask(`SELECT ${SUMMARY} FROM (${summarised})`, MAX_DESCRIBED),
        ask(`SELECT * FROM ${quoteName(name)}`, SAMPLES),
      ])
      const guesses = columns.flatMap((column) =>
        column.guess ? [`- ${column.name}: ${column.guess}`] : [],
      )
      return [
        `${rows} rows.`,
        ...(notes.length > 0 ? [`Around the table: ${notes.join(' / ')}`] : []),
        renderRows(summary),
        ...(guesses.length > 0 ? [`Guessed from the texts:\n${guesses.join('\n')}`] : []),
        `The first rows:\n${renderRows(sample)}`,
      ].join('\n\n')
    },
  })
}

function queryTable(tables: TableReads): Tool {
  return defineTool({
    name: 'query_table',
    title: 'Query tables',
    description: 'Run one SELECT (DuckDB) over tables: exact counts, sums, comparisons, joins.',
    input: z.object({
      sql: filledText(10_000),
      maximumRows: countUpTo(MAX_ROWS).default(100),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ sql, maximumRows }, { visibility, share: owner, citations }, signal) {
      const answer = await tables.query({ sql, maximumRows, visibility, owner }, signal)
      const { rows, rowCount, isMore } = answer
      const all = isMore ? `more than ${rowCount}` : String(rowCount)
      const text = rows.length < rowCount ? `${all}, of which the first ${rows.length} follow` : all
      const remarks = remarksOn(answer)
      return `${citeTables(answer, sql, citations)}${remarks}\nRows: ${text}\n${renderRows(answer)}`
    },
  })
}

/** What was left out of the tables, or may be counted twice. */
const REMARKS =
  /^(?:Left out, as totals|Perhaps totals|Numbers of merged cells|The columns are uncertain|Formulas whose values)/
/** UTF-16 code units of one remark. */
const MAX_REMARK = 300

function remarksOn({ tables }: Pick<TableAnswer<StoredDocument>, 'tables'>): string {
  const lines = tables.flatMap(({ name, notes = [] }) =>
    notes
      .filter((note) => REMARKS.test(note))
      .map((note) => `\n${name}: ${note.slice(0, MAX_REMARK)}`),
  )
  return lines.join('').toWellFormed()
}

async function describeEntry(
  tables: TableReads,
  entry: TableEntry<StoredDocument>,
  owner: Owner,
  signal: AbortSignal,
): Promise<string> {
  try {
    const opened = await tables.open(entry, owner, signal)
    return opened
      .map(({ name, title, rows, columns }) => {
        const described = columns.map((column) => `${column.name} ${column.type}`).join(', ')
        return `- ${name} (${title}): ${rows} rows; ${described}`
      })
      .join('\n')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `${toLine(entry)}: ${error.message}`
  }
}

/** The names of a document's tables: a workbook or a text may have several. */
async function nameTables(
  tables: TableReads,
  entry: TableEntry<StoredDocument>,
  owner: Owner,
  signal: AbortSignal,
): Promise<string> {
  if (signal.aborted) return notRead(entry)
  try {
    const opened = await tables.open(entry, owner, signal)
    return opened.map(toLine).join('\n')
  } catch (error) {
    if (error instanceof Refusal) return `${toLine(entry)}: ${error.message}`
    if (!signal.aborted) throw error
    return notRead(entry)
  }
}

const notRead = ({ title }: TableEntry<StoredDocument>) =>
  `- not read yet, so search for it: ${title}`

const toLine = ({ name, title }: Pick<TableEntry<StoredDocument>, 'name' | 'title'>) =>
  `- ${name} (${title})`

const more = (count: number) =>
  count > MAX_LISTED ? `and ${count - MAX_LISTED} more: search for them by name` : ''

/** Makes each queried table a citable source; returns the list of their numbers. */
export function citeTables(
  { tables, rowCount }: Pick<TableAnswer<StoredDocument>, 'tables' | 'rowCount'>,
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
