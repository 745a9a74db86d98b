import readSheets from 'read-excel-file/node'
import { type BoundedText, createBoundedText, type Extracted } from '../extracted.ts'

/** Sheet by sheet, each under its name. */
export async function extractXlsx(bytes: Buffer): Promise<Extracted> {
  const text = createBoundedText()
  for (const { sheet, data } of await readSheets(bytes)) {
    const rows = rowsToText(data.map((row) => row.map(toCell)))
    if (rows !== '') text.add(`## ${sheet}\n\n${rows}\n`)
  }
  return { text: text.toString() }
}

function toCell(value: unknown): string | number | boolean | Date | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' || value instanceof Date ? value : null
}

/** What one table may add to the text; the tools of the agent read all of it. */
const MAX_CHARACTERS = 2_000_000
const MAX_CELL = 2_000
const MAX_COLUMNS = 500
/** Of a longer table a heading tells every so many rows which they are. */
const ROWS_PER_SECTION = 25

export type Cell = string | number | boolean | Date | null | undefined
export type TableRow = readonly Cell[]

/**
 * A line per row, with the name of the column before each value, so that a row is understood wherever the
 * table is cut. Empty cells are left out. What is too much ends in a line that says how much there is.
 */
export function rowsToText(rows: readonly TableRow[], isCut = false): string {
  const text = createBoundedText(Number.POSITIVE_INFINITY)
  const header = headerOf(rows)
  const body = header ? rows.slice(1) : rows
  const taken = addRows(text, body, header)
  if (taken < body.length || isCut) {
    const total = isCut ? '' : ` of ${body.length}`
    text.add(`\n(The first ${taken}${total} rows; the whole table is in the file.)\n`)
  }
  return text.toString()
}

function addRows(
  text: BoundedText,
  rows: readonly TableRow[],
  header: readonly string[] | undefined,
): number {
  for (const [position, row] of rows.entries()) {
    if (text.length > MAX_CHARACTERS) return position
    if (position % ROWS_PER_SECTION === 0)
      text.add(sectionAt(position, rows.length, header ? 2 : 1))
    const cells = row.slice(0, MAX_COLUMNS).map(toText)
    const named = cells.flatMap((cell, i) => (cell === '' ? [] : [withName(cell, header?.[i])]))
    if (named.length > 0) text.add(`- ${named.join('; ')}\n`)
  }
  return rows.length
}

/** `first` is the number of the first row, as a reader of the table counts. */
function sectionAt(position: number, rows: number, first: number): string {
  if (rows <= ROWS_PER_SECTION) return ''
  const last = Math.min(position + ROWS_PER_SECTION, rows)
  return `\n### Rows ${first + position} to ${first + last - 1}\n\n`
}

function withName(cell: string, name: string | undefined): string {
  return name ? `${name}: ${cell}` : cell
}

/** The first row, where it looks like names: words, none missing or twice. */
function headerOf([first]: readonly TableRow[]): string[] | undefined {
  const names = (first ?? []).slice(0, MAX_COLUMNS).map(toText)
  while (names.at(-1) === '') names.pop()
  const isNames = names.length > 0 && names.every(isName) && new Set(names).size === names.length
  return isNames ? names : undefined
}

function isName(text: string): boolean {
  return text !== '' && text.length <= 100 && !/^[-+\d.,%€$£\s/:]+$/.test(text)
}

export function toText(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = cell instanceof Date ? dateToText(cell) : String(cell)
  return text.slice(0, MAX_CELL).replaceAll(/\s+/g, ' ').trim()
}

function dateToText(date: Date): string {
  if (Number.isNaN(date.getTime())) return ''
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/\.000Z$/, 'Z')
}
