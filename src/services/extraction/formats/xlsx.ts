import { type BoundedText, createBoundedText, type Extracted } from '../extracted.ts'
import { type Cell, type SheetTable, sheetTables, type TableRow, toText } from '../sheet-tables.ts'

/** Sheet by sheet, each under its name. */
export async function extractXlsx(bytes: Buffer): Promise<Extracted> {
  const text = createBoundedText()
  for (const { sheet, rows } of await readWorkbook(bytes)) {
    const written = rowsToText(rows)
    if (written !== '') text.add(`## ${sheet}\n\n${written}\n`)
  }
  return { text: text.toString() }
}

/** Reads the sheets of a workbook, given as bytes or as a path. */
export async function readWorkbook(
  workbook: Buffer | string,
): Promise<{ sheet: string; rows: TableRow[] }[]> {
  // Imported on demand, since other modules use only `rowsToText` of this file.
  const { default: readSheets } = await import('read-excel-file/node')
  const sheets = await readSheets(workbook)
  return sheets.map(({ sheet, data }) => ({ sheet, rows: data.map((row) => row.map(toCell)) }))
}

function toCell(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number') return value
  // A cell formatted as a date may hold a number that is no valid date.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value
  return typeof value === 'boolean' ? value : null
}

/** Maximum UTF-16 code units that one sheet adds to the text; the agent's tools read all of it. */
const MAX_CHARACTERS = 2_000_000
/** In a longer table, a heading states the row numbers every so many rows. */
const ROWS_PER_SECTION = 25
const MAX_TITLE = 120

/**
 * Writes a line per row, with the column name before each value, so that a row can be understood wherever the table is
 * cut into chunks. Empty cells are left out. A table that is too long ends in a line that says how many rows it has.
 */
export function rowsToText(rows: readonly TableRow[], isCut = false): string {
  const text = createBoundedText(Number.POSITIVE_INFINITY)
  const tables = sheetTables(rows)
  for (const table of tables) addTable(text, table, isCut && table === tables.at(-1))
  return text.toString()
}

function addTable(text: BoundedText, table: SheetTable, isCut: boolean): void {
  const { notes, rows } = table
  const [title = ''] = rows.length > 0 ? notes : []
  const isTitle = title !== '' && title.length <= MAX_TITLE
  if (isTitle) text.add(`\n### ${title}\n\n`)
  for (const note of isTitle ? notes.slice(1) : notes) text.add(`${note}\n\n`)
  const taken = addRows(text, table, isTitle ? '####' : '###')
  if (taken === rows.length && !isCut) return
  const total = isCut ? '' : ` of ${rows.length}`
  text.add(`\n(The first ${taken}${total} rows; the whole table is in the file.)\n`)
}

function addRows(text: BoundedText, { rows, head, first }: SheetTable, level: string): number {
  for (const [position, row] of rows.entries()) {
    if (text.length > MAX_CHARACTERS) return position
    if (position % ROWS_PER_SECTION === 0) text.add(sectionAt(position, rows.length, first, level))
    const named = row.map(toText).flatMap((cell, i) => {
      if (cell === '') return []
      return head?.[i] ? `${head[i]}: ${cell}` : cell
    })
    if (named.length > 0) text.add(`- ${named.join('; ')}\n`)
  }
  return rows.length
}

/** Rows are numbered from 1, counting everything above them on the sheet. */
function sectionAt(position: number, rows: number, first: number, level: string): string {
  if (rows <= ROWS_PER_SECTION) return ''
  const last = Math.min(position + ROWS_PER_SECTION, rows)
  return `\n${level} Rows ${first + position + 1} to ${first + last}\n\n`
}
