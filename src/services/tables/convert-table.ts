import { readFile, rm, writeFile } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { JobRefusal } from '../../lib/job.ts'
import { refuseBadZip } from '../extraction/zip-archive.ts'
import { quoteName, quoteText, withDatabase } from './duckdb.ts'
import type { ConvertJob, Sheet, TableFormat } from './table-job.ts'

const MAX_SHEETS = 50

/** A part of the file that one `SELECT` reads. */
interface Part {
  name: string
  source: string
}

const READERS: Record<Exclude<TableFormat, 'xlsx'>, (path: string) => string> = {
  csv: (path) => `read_csv(${quoteText(path)}, header = true, sample_size = -1)`,
  tsv: (path) => `read_csv(${quoteText(path)}, delim = '\t', header = true, sample_size = -1)`,
  jsonl: (path) => `read_json(${quoteText(path)}, format = 'newline_delimited', sample_size = -1)`,
  parquet: (path) => `read_parquet(${quoteText(path)})`,
}

/** Reads a file into typed tables of a database file. Throws `JobRefusal` for a file that is none. */
export async function convertTable(job: ConvertJob): Promise<{ sheets: Sheet[] }> {
  const parts = await partsOf(job)
  return withDatabase(job.target, async (connection) => {
    const sheets: Sheet[] = []
    for (const [index, { name, source }] of parts.entries()) {
      const table = `table${index}`
      await load(connection, table, source)
      if (job.format !== 'parquet') await narrowDecimals(connection, table)
      sheets.push({ name, table, ...(await describe(connection, table)) })
    }
    return { sheets }
  })
}

/** What is tried in turn where the rows of a text do not fit together: fill up short ones, then take all as text. */
const LENIENT = [
  ', null_padding = true, parallel = false',
  ', all_varchar = true, null_padding = true, strict_mode = false, parallel = false',
]

async function load(connection: DuckDBConnection, table: string, source: string): Promise<void> {
  const isText = source.startsWith('read_csv')
  const sources = [
    source,
    ...(isText ? LENIENT.map((options) => source.replace(/\)$/, `${options})`)) : []),
  ]
  let failure: unknown
  for (const from of sources) {
    try {
      await connection.run(`CREATE OR REPLACE TABLE ${quoteName(table)} AS SELECT * FROM ${from}`)
      if (!isText || from !== source || !(await isUnsplit(connection, table))) return
    } catch (error) {
      failure = error
    }
  }
  if (failure) throw unreadable(failure)
}

/** Rows of many lengths look to the reader like one column, with the separators in its name. */
async function isUnsplit(connection: DuckDBConnection, table: string): Promise<boolean> {
  const { columns } = await describe(connection, table)
  return columns.length === 1 && /[,;\t|]/.test(columns[0]?.name ?? '')
}

async function describe(connection: DuckDBConnection, table: string) {
  const described = await connection.runAndReadAll(
    `SELECT column_name, data_type FROM information_schema.columns
     WHERE table_name = ${quoteText(table)} ORDER BY ordinal_position`,
  )
  const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${quoteName(table)}`)
  return {
    rows: Number(counted.getRows()[0]?.[0] ?? 0),
    columns: described.getRows().map(([name, type]) => ({
      name: String(name),
      type: String(type),
    })),
  }
}

async function partsOf({ source, format }: ConvertJob): Promise<Part[]> {
  if (format !== 'xlsx') return [{ name: '', source: READERS[format](source) }]
  const sheets = await sheetsAsCsv(source)
  if (sheets.length === 0) throw new JobRefusal('The workbook has no sheet with rows')
  const parts: Part[] = []
  for (const [index, { name, csv }] of sheets.slice(0, MAX_SHEETS).entries()) {
    const path = `${source}.${index}.csv`
    await writeFile(path, csv)
    parts.push({ name: sheets.length === 1 ? '' : name, source: READERS.csv(path) })
  }
  await rm(source)
  return parts
}

/** The sheets of a workbook that have rows, each as CSV with the first row that has a value as its head. */
async function sheetsAsCsv(path: string): Promise<{ name: string; csv: string }[]> {
  await refuseBadZip(await readFile(path), 'The file is not a workbook')
  const { default: readWorkbook } = await import('read-excel-file/node')
  const sheets = await readWorkbook(path)
  return sheets.flatMap(({ sheet, data }) => {
    const rows = data.filter((row) => row.some((value) => value !== null))
    const [head, ...body] = rows
    if (!head) return []
    const names = head.map((value, index) => (value === null ? `column${index + 1}` : value))
    return [{ name: sheet, csv: [names, ...body].map(toLine).join('\n') }]
  })
}

function toLine(row: readonly unknown[]): string {
  return row.map(toField).join(',')
}

function toField(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return toTime(value)
  return `"${String(value).replaceAll('"', '""')}"`
}

/** A day without a time of day stays one. */
function toTime(date: Date): string {
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/Z$/, '')
    .replace('T', ' ')
}

function unreadable(error: unknown): JobRefusal {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
  return new JobRefusal(`The file cannot be read as a table: ${reason.slice(0, 300)}`)
}

const DIGITS = 18
const MAX_DECIMALS = 6
/** Whole digits that are left beside the decimals. */
const LARGEST = 10 ** (DIGITS - MAX_DECIMALS - 1)

/**
 * Makes columns of binary fractions decimal where every value is one of few decimals, as amounts of money
 * are: sums of them are exact then.
 */
async function narrowDecimals(connection: DuckDBConnection, table: string): Promise<void> {
  const doubles = await connection.runAndReadAll(
    `SELECT column_name FROM information_schema.columns
     WHERE table_name = ${quoteText(table)} AND data_type = 'DOUBLE'`,
  )
  for (const [column] of doubles.getRows()) {
    const name = quoteName(String(column))
    const written = `CAST(${name} AS VARCHAR)`
    const measured = await connection.runAndReadAll(
      `SELECT max(length(split_part(${written}, '.', 2))), max(abs(${name})),
         bool_or(contains(${written}, 'e') OR NOT isfinite(${name}))
       FROM ${quoteName(table)}`,
    )
    const [decimals, largest, isOther] = measured.getRows()[0] ?? []
    const fits = Number(decimals) <= MAX_DECIMALS && Number(largest) < LARGEST && isOther === false
    if (!fits) continue
    const type = `DECIMAL(${DIGITS}, ${Number(decimals)})`
    await connection.run(`ALTER TABLE ${quoteName(table)} ALTER ${name} TYPE ${type}`)
  }
}
