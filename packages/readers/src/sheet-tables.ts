import { oneLine } from './extracted.ts'
import { headOf } from './sheet-heads.ts'

export type Cell = string | number | boolean | Date | null | undefined
export type TableRow = readonly Cell[]

/** A table on a sheet, which may hold several. */
export interface SheetTable {
  /** The texts above it, such as its title. */
  notes: string[]
  /** The texts below the sheet's last table. */
  notesBelow?: string[]
  /** A name per column, empty if it has none; absent if no row looks like column names. */
  head: string[] | undefined
  /** The index of its first row of values on the sheet, from 0. */
  first: number
  /** The index of its first column on the sheet, from 0; absent if it is in a text. */
  left?: number
  /** Rows of values, including empty rows between them. */
  rows: TableRow[]
}

/** Columns of a sheet that are read. */
export const MAX_COLUMNS = 500
/** After this many tables, further blocks are added to the last one. */
const MAX_TABLES = 50
const MAX_NOTE_ROWS = 5
/** Rows that are compared to decide whether the row above them is a head. */
const COMPARED_ROWS = 50

/** The tables of a sheet, separated by empty rows or columns, each with its column names and the texts above it. */
export function sheetTables(rows: readonly TableRow[]): SheetTable[] {
  const width = rows.reduce((most, row) => Math.max(most, extent(row)), 0)
  const tables: Placed[] = []
  let notes: string[] = []
  for (const block of blocksOf(rows)) {
    if (width > 1 && isNote(rows, block)) {
      notes.push(...textsIn(rows, block))
      continue
    }
    const next = besideEachOther(rows, block)
    const last = tables.at(-1)
    const [only] = next
    const isMore = last && only && next.length === 1 && goesOn(only, last, notes)
    if (last && (isMore || tables.length >= MAX_TABLES)) extend(last, block)
    else {
      only?.notes.unshift(...notes)
      tables.push(...next)
    }
    notes = []
  }
  return finished(rows, tables, notes)
}

function finished(rows: readonly TableRow[], tables: Placed[], below: string[]): SheetTable[] {
  const cut = tables.map((table) => withoutNotes(cutOut(rows, table)))
  const last = cut.at(-1)
  if (last && below.length > 0) last.notesBelow = [...(last.notesBelow ?? []), ...below]
  if (last || below.length === 0) return cut
  return [{ notes: below, head: undefined, first: 0, rows: [] }]
}

/** How a remark below a table begins. */
const REMARK =
  /^(?:[*†‡¹²³]|\(?\d\) |(?:notes?|sources?|remarks?|quellen?|anmerkung(?:en)?|hinweise?|stand|fuente|nota|source|fonte|bron|as of)\b.*[: ])/i

/** The last rows of a table are notes if they are a remark each. */
function withoutNotes(table: SheetTable): SheetTable {
  const isNoteRow = (row: TableRow) => filledIn(row) === 1 && REMARK.test(toText(row[0]))
  const last = table.rows.findLastIndex((row) => filledIn(row) > 0 && !isNoteRow(row))
  const notes = table.rows.slice(last + 1).flatMap((row) => toText(row[0]) || [])
  if (last < 0 || notes.length === 0 || (table.head?.length ?? 2) < 2) return table
  return { ...table, rows: table.rows.slice(0, last + 1), notesBelow: notes }
}

/** The text of a cell on one line, cut after `MAX_CELL` UTF-16 code units; dates in ISO 8601, empty cells as ''. */
export function toText(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const text = cell instanceof Date ? dateToText(cell) : String(cell)
  const line = oneLine(text.slice(0, MAX_CELL))
  return text.length > MAX_CELL ? `${line} …` : line
}

/** Excel allows a third of it. */
const MAX_CELL = 100_000

/** The day 0 of spreadsheets: a time of day or a duration is a part or a number of days after it. */
export const DAY_ZERO = Date.UTC(1899, 11, 30)
/** No table is about a day before it, so what seems to be one is a duration. */
export const FIRST_DAY = Date.UTC(1901, 0, 1)
const SECOND = 1_000

function dateToText(date: Date): string {
  const time = date.getTime()
  if (Number.isNaN(time)) return ''
  if (time >= DAY_ZERO && time < FIRST_DAY) return durationToText(time - DAY_ZERO)
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/\.000Z$/, 'Z')
}

/** Hours and minutes, and seconds if there are any. */
function durationToText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / SECOND)
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return (parts.at(-1) === 0 ? parts.slice(0, 2) : parts)
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

interface Block {
  /** Indexes of rows and columns; the ends are exclusive. */
  start: number
  end: number
  left: number
  right: number
}

interface Placed extends Block {
  notes: string[]
  head: string[] | undefined
  /** Whether the values below clearly differ from the head. */
  isSure: boolean
}

const isFilled = (cell: Cell) => cell !== null && cell !== undefined && String(cell).trim() !== ''
const filledIn = (row: TableRow) => row.reduce((sum: number, cell) => sum + +isFilled(cell), 0)
const extent = (row: TableRow) => Math.min(row.findLastIndex(isFilled) + 1, MAX_COLUMNS)

/** Runs of non-empty rows, with the columns that they span. */
function blocksOf(rows: readonly TableRow[]): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [place, row] of rows.entries()) {
    const first = row.findIndex(isFilled)
    if (first < 0) open = undefined
    else if (open) {
      open.end = place + 1
      open.left = Math.min(open.left, first)
      open.right = Math.max(open.right, extent(row))
    } else {
      open = { start: place, end: place + 1, left: first, right: extent(row) }
      blocks.push(open)
    }
  }
  return blocks
}

function isNote(rows: readonly TableRow[], { start, end }: Block): boolean {
  return end - start <= MAX_NOTE_ROWS && rows.slice(start, end).every((row) => filledIn(row) < 2)
}

function textsIn(rows: readonly TableRow[], { start, end, left, right }: Block): string[] {
  const texts = rows.slice(start, end).map((row) => row.slice(left, right).filter(isFilled))
  return texts.map((cells) => cells.map(toText).join(' '))
}

/** One table, or several that are separated by empty columns and each have a head. */
function besideEachOther(rows: readonly TableRow[], block: Block): Placed[] {
  const parts = partsOf(rows, block)
  const tables = parts.length > 1 ? parts.map((part) => place(rows, part)) : []
  const areSure = tables.every(({ left, right, isSure }) => right - left > 1 && isSure)
  return tables.length > 0 && areSure ? tables : [place(rows, block)]
}

/** Splits a block at its empty columns. */
function partsOf(rows: readonly TableRow[], block: Block): Block[] {
  const filled = new Set<number>()
  for (const row of rows.slice(block.start, block.end))
    for (const [column, cell] of row.entries()) if (isFilled(cell)) filled.add(column)
  const parts: Block[] = []
  for (let column = block.left; column < block.right; column++) {
    const last = parts.at(-1)
    if (filled.has(column) && last?.right === column) last.right++
    else if (filled.has(column)) parts.push({ ...block, left: column, right: column + 1 })
  }
  return parts
}

function place(rows: readonly TableRow[], block: Block): Placed {
  const { start, end, left, right } = block
  const near = rows
    .slice(start, Math.min(end, start + COMPARED_ROWS))
    .map((row) => row.slice(left, right).map(toText))
  const widest = Math.max(...near.map(filledIn))
  // A title is alone in its row, or has one more cell next to it if the table is wide.
  const mostInTitle = widest > 4 ? 2 : Math.min(widest - 1, 1)
  const titles = Math.max(
    // Two names that begin further right are groups of columns.
    near.findIndex((row) => filledIn(row) > (row[0] ? mostInTitle : Math.min(mostInTitle, 1))),
    0,
  )
  const notes = textsIn(rows, { ...block, end: start + titles })
  const { headRows, ...head } = headOf(near.slice(titles), widest)
  return { ...block, ...head, notes, start: start + titles + headRows }
}

/** Whether a block only continues the table above it, after an empty row. */
function goesOn(next: Placed, last: Placed, notes: readonly string[]): boolean {
  // A block that starts further left may be below another table, next to this one.
  if (next.left < last.left) return false
  if (!next.head) return true
  const isAlike = next.left === last.left && next.right <= last.right
  return isAlike && !next.isSure && notes.length + next.notes.length === 0
}

/** Adds a block to the table above it; columns further left than the table get no name. */
function extend(table: Placed, { end, left, right }: Block): void {
  const addedColumns = Math.max(0, table.left - left)
  table.head?.unshift(...Array.from({ length: addedColumns }, () => ''))
  table.left -= addedColumns
  table.right = Math.max(table.right, right)
  table.end = end
}

function cutOut(
  rows: readonly TableRow[],
  { start, end, left, right, head, notes }: Placed,
): SheetTable {
  const cut = rows.slice(start, end).map((row) => row.slice(left, right))
  const height = cut.findLastIndex((row) => row.some(isFilled)) + 1
  const width = Math.max(0, right - left)
  // Names of columns without any values are the values.
  if (height === 0 && head && start > 0) {
    return {
      notes,
      head: undefined,
      first: start - 1,
      left,
      rows: [rows[start - 1]?.slice(left, right) ?? []],
    }
  }
  const names = head && Array.from({ length: width }, (_, i) => head[i] ?? '')
  return { notes, head: names, first: start, left, rows: cut.slice(0, height) }
}
