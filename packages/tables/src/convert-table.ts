import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { TextDecoderStream } from 'node:stream/web'
import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  type Cell,
  decodeText,
  encodingOf,
  extractFile,
  FIRST_DAY,
  isOldWorkbook,
  refuseBadZip,
  type SheetTable,
  type TableRow,
  tablesOfText,
  tablesOfWorkbook,
  toText,
  unlockWorkbook,
  type WorkbookTable,
} from '@agent-server/readers'
import type { DuckDBConnection } from '@duckdb/node-api'
import { distinctNames } from './catalogue.ts'
import { rowsOf, withDatabase } from './duckdb.ts'
import { markdownTables } from './markdown-tables.ts'
import type { ConvertJob, Sheet } from './table-job.ts'
import { quoteName, quoteText } from './table-job.ts'
import { type ColumnKinds, typeColumns } from './type-columns.ts'

const MAX_SHEETS = 50
/** Notes around one table that are kept; each is at most as long as a cell. */
const MAX_NOTES = 20
/** A larger text is read by the engine alone, as a single table. */
const MAX_LAID_OUT_BYTES = 16 * 2 ** 20
/** Bytes of a larger text that are examined for its delimiter and its head. */
const SAMPLE_BYTES = 2 ** 18

/** A part of the file that one `SELECT` reads. */
interface Part {
  name: string
  source: string
  notes: string[]
  /** How its texts become values; absent if the engine itself reads typed values. */
  texts?: ColumnKinds
}

/** Converts a file into typed tables in a database file. Throws `Refusal` for a file that is not a table. */
export async function convertTable(job: ConvertJob): Promise<{ sheets: Sheet[] }> {
  const parts = await partsOf(job)
  return withDatabase(job.target, async (connection) => ({
    sheets: await Array.fromAsync(parts, (part, n) => loadPart(connection, part, `table${n}`)),
  }))
}

async function loadPart(connection: DuckDBConnection, part: Part, table: string): Promise<Sheet> {
  await load(connection, table, part.source)
  const description = await describe(connection, table)
  if (!part.texts) return { name: part.name, table, ...description }
  const names = description.columns.map(({ name }) => name)
  const { guesses, notes } = await typeColumns({ connection, table, columns: names }, part.texts)
  const { rows, columns: typed } = await describe(connection, table)
  const columns = typed.map((column) => {
    const guess = guesses.get(column.name)
    return guess === undefined ? column : { ...column, guess }
  })
  const allNotes = [...part.notes.slice(0, MAX_NOTES), ...notes]
  return { name: part.name, table, rows, columns, ...(allNotes[0] && { notes: allNotes }) }
}

/** Options tried in turn if the rows of a text are inconsistent: pad short rows, then accept invalid quoting, too. */
const LENIENT = [
  ', null_padding = true, parallel = false',
  ', null_padding = true, strict_mode = false, parallel = false',
]

async function load(connection: DuckDBConnection, table: string, source: string): Promise<void> {
  const isText = source.startsWith('read_csv')
  const lenient = isText ? LENIENT.map((options) => source.replace(/\)$/, `${options})`)) : []
  let failure: unknown
  for (const from of [source, ...lenient]) {
    try {
      await connection.run(`CREATE OR REPLACE TABLE ${quoteName(table)} AS SELECT * FROM ${from}`)
      return
    } catch (error) {
      failure = error
    }
  }
  throw unreadable(failure)
}

async function describe(connection: DuckDBConnection, table: string) {
  const columns = await rowsOf(
    connection,
    `SELECT column_name, data_type FROM information_schema.columns
     WHERE table_name = ${quoteText(table)} ORDER BY ordinal_position`,
  )
  const [counted] = await rowsOf(connection, `SELECT count(*) FROM ${quoteName(table)}`)
  return {
    rows: Number(counted?.[0]),
    columns: columns.map(([name, type]) => ({ name: String(name), type: String(type) })),
  }
}

async function partsOf(job: ConvertJob): Promise<Part[]> {
  const { source, format } = job
  if (format === 'parquet') return [engineRead(`read_parquet(${quoteText(source)})`)]
  if (format === 'xlsx') return workbookParts(source)
  await toUtf8(source)
  if (format === 'markdown') return markdownParts(source)
  if (format !== 'jsonl') return textParts(source, format)
  return [
    engineRead(`read_json(${quoteText(source)}, format = 'newline_delimited', sample_size = -1)`),
  ]
}

const engineRead = (source: string): Part => ({ name: '', source, notes: [] })

const READ_TEXTS = 'all_varchar = true, header = true'

/** The tables of a text file; of a long one, the engine reads everything from the first head on, as one table. */
async function textParts(path: string, format: 'csv' | 'tsv'): Promise<Part[]> {
  const { text, isWhole } = await beginningOf(path)
  const { dialect, tables } = await tablesOfText(text, `.${format}`)
  const hasDecimalComma = dialect.delimiter === ';'
  const doubt = dialect.doubt === undefined ? [] : [`The columns are uncertain: ${dialect.doubt}`]
  if (isWhole) {
    if (!tables.some(hasColumns)) throw new Refusal('The file has no rows')
    const parts = await writeParts(path, [{ sheet: '', tables }], hasDecimalComma)
    return parts.map((part) => ({ ...part, notes: [...part.notes, ...doubt] }))
  }
  const [first] = tables
  const isDeclared = dialect.start > 0
  const above = Math.max(0, (first?.first ?? 0) - 1) + Number(isDeclared)
  // Quoted line breaks above the head would count as lines; such a file is read from its start.
  const skip = text.split('\n').slice(0, above).join('').includes('"') ? 0 : above
  const options = [
    READ_TEXTS,
    `delim = ${quoteText(dialect.delimiter)}`,
    `quote = ${quoteText(dialect.quote)}`,
    `escape = ${quoteText(dialect.hasBackslashes ? '\\' : dialect.quote)}`,
    `skip = ${skip}`,
  ]
  const source = `read_csv(${quoteText(path)}, ${options.join(', ')})`
  // The engine does not read such values as quoted.
  const spaced = dialect.hasSpacedQuotes
    ? ['The columns are uncertain: values are quoted after blanks']
    : []
  const notes = [...(first?.notes ?? []), ...doubt, ...spaced]
  return [{ name: '', source, notes, texts: { plain: new Set(), hasDecimalComma } }]
}

async function beginningOf(path: string): Promise<{ text: string; isWhole: boolean }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const isWhole = size <= MAX_LAID_OUT_BYTES
    const buffer = Buffer.alloc(isWhole ? size : SAMPLE_BYTES)
    await file.read(buffer, 0, buffer.length, 0)
    const text = buffer.toString('utf8').replaceAll(/\r\n?/g, '\n')
    return { text: isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1), isWhole }
  } finally {
    await file.close()
  }
}

/** Re-encodes a text file in any encoding as UTF-8, which the engine reads. */
async function toUtf8(path: string): Promise<void> {
  const encoding = await otherEncoding(path)
  if (encoding === undefined) return
  const decoder = new TextDecoderStream(encoding)
  const decoded = `${path}.utf-8`
  await pipeline(createReadStream(path), decoder, createWriteStream(decoded))
  await rename(decoded, path)
}

/**
 * The encoding of a file that is not valid UTF-8; undefined for one that is. It shows in the beginning, or in the piece
 * that is not valid, as a reader of the whole text would take it: a few damaged letters leave it UTF-8.
 */
async function otherEncoding(path: string): Promise<string | undefined> {
  const strict = new TextDecoder('utf-8', { fatal: true })
  let first: Buffer | undefined
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) {
    const isValid = decodes(strict, piece)
    if (first && isValid) continue
    const start = first ? Buffer.concat([first, piece]) : piece
    const encoding = (await encodingOf(start)) ?? FALLBACK
    if (encoding !== 'utf-8' || !isValid) return encoding
    first = piece
  }
  // The last letter may be cut off.
  return decodes(strict) ? undefined : 'utf-8'
}

/** The most common encoding of Western files. */
const FALLBACK = 'windows-1252'

function decodes(strict: TextDecoder, piece?: Buffer): boolean {
  try {
    strict.decode(piece, { stream: piece !== undefined })
    return true
  } catch {
    return false
  }
}

async function workbookParts(source: string): Promise<Part[]> {
  const bytes = await unlockWorkbook(await readFile(source))
  if (!isOldWorkbook(bytes)) {
    if (await isText(bytes)) return disguisedParts(source, bytes)
    await refuseBadZip(bytes, 'The file is not a workbook')
  }
  const sheets = await tablesOfWorkbook(bytes)
  const filled = sheets.filter(({ tables }) => tables.some(hasColumns))
  if (filled.length === 0) throw new Refusal('The workbook has no sheet with rows')
  const parts = await writeParts(source, filled, false)
  await rm(source)
  return parts
}

/** The marks of files that are no text, whatever stands in them. */
const NO_TEXT = /^(?:PK|%PDF)/

async function isText(bytes: Buffer): Promise<boolean> {
  if (NO_TEXT.test(bytes.toString('latin1', 0, 4))) return false
  return (await decodeText(bytes.subarray(0, SAMPLE_BYTES))) !== undefined
}

/** Files that programs only call a workbook: a page with tables, or a text with tabs. */
async function disguisedParts(source: string, bytes: Buffer): Promise<Part[]> {
  await toUtf8(source)
  const { text } = await beginningOf(source)
  if (!/<table[\s>]/i.test(text)) return textParts(source, 'tsv')
  const page = await extractFile({ name: 'page.html', mediaType: 'text/html', bytes })
  return markdownParts(source, page.text)
}

/** The tables in a text, each named by the heading above it. */
async function markdownParts(source: string, text?: string): Promise<Part[]> {
  const tables = markdownTables(text ?? (await readFile(source, 'utf8')))
  if (tables.length === 0) throw new Refusal('The file has no tables')
  return writeParts(source, [{ sheet: '', tables }], false)
}

const hasColumns = ({ head, rows }: SheetTable) => head !== undefined || rows.length > 0

/** Writes each table as plain CSV; if a sheet has several tables, each is named by its first note. */
async function writeParts(
  path: string,
  sheets: readonly { sheet: string; tables: (SheetTable | WorkbookTable)[] }[],
  hasDecimalComma: boolean,
): Promise<Part[]> {
  const entries = sheets.flatMap(({ sheet, tables }) => {
    const filled = tables.filter(hasColumns)
    return filled.map((table, index) => {
      const suffix = filled.length > 1 ? [table.notes[0] ?? `table ${index + 1}`] : []
      return { table, name: [...(sheets.length > 1 ? [sheet] : []), ...suffix].join(' ') }
    })
  })
  const parts: Part[] = []
  for (const [index, { name, table }] of entries.slice(0, MAX_SHEETS).entries()) {
    const { head, rows, notes, notesBelow = [] } = table
    const csvPath = `${path}.${index}.csv`
    const filled = rows.filter(isFilled)
    const width = filled.reduce((most, row) => Math.max(most, row.length), head?.length ?? 0)
    const names = distinctNames(
      Array.from({ length: width }, (_, n) => head?.[n]?.trim() || `column${n + 1}`),
    )
    const lines = filled.map((row) => names.map((_, n) => toField(row[n])).join(','))
    await writeFile(csvPath, lines.join('\n'))
    const source = readWritten(csvPath, names)
    const { units, remarks = [] }: Partial<WorkbookTable> = table
    parts.push({
      name,
      source,
      notes: [...notes, ...notesBelow, ...remarks],
      texts: { plain: plainColumns(rows), hasDecimalComma, units },
    })
  }
  return parts
}

/** Nothing is left to the engine's guess, which takes a value with quotation marks for another way of quoting. */
function readWritten(path: string, names: readonly string[]): string {
  const columns = names.map((name) => `${quoteText(name)}: 'VARCHAR'`).join(', ')
  return `read_csv(${quoteText(path)}, auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', columns = {${columns}})`
}

const isFilled = (row: TableRow) => row.some((cell) => cell !== null && cell !== '')

/** Columns with numbers or dates that the file holds as such, and not as text. */
function plainColumns(rows: readonly TableRow[]): Set<number> {
  const isTyped = (cell: Cell) => typeof cell === 'number' || cell instanceof Date
  return new Set(rows.flatMap((row) => row.flatMap((cell, i) => (isTyped(cell) ? [i] : []))))
}

function toField(value: Cell): string {
  if (value === null || value === undefined || value === '') return ''
  if (value instanceof Date) return toTime(value)
  return `"${String(value).replaceAll('"', '""')}"`
}

/** A date without a time of day stays a date. */
function toTime(date: Date): string {
  if (date.getTime() < FIRST_DAY) return toText(date)
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/Z$/, '')
    .replace('T', ' ')
}

function unreadable(error: unknown): Refusal {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
  return new Refusal(`The file cannot be read as a table: ${reason.slice(0, 300)}`)
}
