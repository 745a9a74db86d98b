import type { CellObject } from '@e965/xlsx'
import {
  type BoundedText,
  createBoundedText,
  type Extracted,
  listed,
  type ReadingWarning,
} from '../extracted.ts'
import { type Cell, type SheetTable, sheetTables, type TableRow, toText } from '../sheet-tables.ts'
import { chartToText } from './chart.ts'
import type { ShowPicture } from './image.ts'
import { dateAt, dayZeroOf, SIGNED } from './number-format.ts'
import type { PartsOfSheets, SheetParts } from './sheet-parts.ts'

/**
 * Sheet by sheet, each under its name and with what `parts` hold, and `show` says for its images; percentages and amounts
 * of money as they are shown.
 */
export async function extractWorkbook(
  bytes: Buffer,
  parts: PartsOfSheets,
  show: ShowPicture = async () => '',
): Promise<Extracted> {
  const text = createBoundedText()
  const hidden: string[] = []
  const partlyHidden: string[] = []
  for (const { sheet, isHidden, rows, comments } of await readWorkbook(bytes, { asShown: true })) {
    const more = parts.get(sheet)
    const pictures = await Array.fromAsync(more?.pictures ?? [], show)
    const content = [
      rowsToText(rows),
      ...asParagraphs(comments),
      ...drawnToText(more),
      ...asParagraphs(pictures),
    ]
      .filter(Boolean)
      .join('\n')
    if (content === '') continue
    if (isHidden || more?.isHidden) hidden.push(sheet)
    if (more && hasHidden(rows, more)) partlyHidden.push(sheet)
    text.add(`## ${sheet}\n\n${content}\n`)
  }
  const warnings = [
    ...warningOf('hidden_sheets', 'Hidden sheets', hidden),
    ...warningOf('hidden_cells', 'Hidden rows or columns', partlyHidden),
  ]
  return { text: text.toString(), ...(warnings.length > 0 && { warnings }) }
}

const asParagraphs = (texts: readonly string[]) => texts.filter(Boolean).map((text) => `${text}\n`)

/** UTF-16 code units of the names of sheets in a warning. */
const MAX_NAMES = 200

function warningOf(code: string, what: string, sheets: readonly string[]): ReadingWarning[] {
  if (sheets.length === 0) return []
  return [{ code, message: `${what} were read, too: ${sheets.join(', ').slice(0, MAX_NAMES)}` }]
}

/** Of a chart whose values are on a sheet, only the title. */
function drawnToText(parts: Partial<SheetParts> = {}): string[] {
  const { charts = [], smartArt = [], textBoxes = [] } = parts
  const texts = charts.flatMap((chart) => {
    if (!chart.isOfCells) return `${chartToText(chart)}\n`
    return chart.title === '' ? [] : `${chartToText({ ...chart, tables: [] })}\n`
  })
  return [...textBoxes, ...texts, ...(smartArt.length === 0 ? [] : [`${listed(smartArt)}\n`])]
}

/** Whether any cell with a value is hidden: unused rows and columns often are. */
function hasHidden(rows: readonly TableRow[], { hiddenRows, hiddenColumns }: SheetParts): boolean {
  if (hiddenRows.size + hiddenColumns.size === 0) return false
  return rows.some((row, place) =>
    row.some(
      (cell, column) =>
        (hiddenRows.has(place + 1) || hiddenColumns.has(column + 1)) && toText(cell) !== '',
    ),
  )
}

interface Sheet {
  sheet: string
  isHidden: boolean
  rows: TableRow[]
  /** Comments on cells. */
  comments: string[]
}

/**
 * Reads the sheets of a workbook: XLSX, XLS or ODS. A number is a number, unless `asShown` wants percentages and amounts
 * of money with their signs.
 */
export async function readWorkbook(bytes: Buffer, { asShown = false } = {}): Promise<Sheet[]> {
  // Imported on demand, since other modules use only `rowsToText` of this file.
  const { read, SSF, utils } = await import('@e965/xlsx')
  const workbook = read(bytes, {
    type: 'buffer',
    dense: true,
    cellNF: true,
    cellText: asShown,
    cellHTML: false,
    cellFormula: false,
  })
  const { SheetNames: names, Sheets: sheets, Workbook: about } = workbook
  const dayZero = dayZeroOf(about?.WBProps?.date1904)
  const toCell = (cell: CellObject | undefined): Cell => {
    const { t: type, v: value = null, z = '' } = cell ?? {}
    if (!cell || type === 'e') return null
    if (typeof value !== 'number') return value
    if (SSF.is_date(String(z))) return dateAt(dayZero, value)
    return asShown && SIGNED.test(String(z)) ? shownAs(cell, value) : value
  }
  // Some programs write the bare number beside its format.
  const shownAs = ({ w: shown, z }: CellObject, value: number) =>
    (shown && shown !== String(value) ? shown : SSF.format(String(z), value)).trim()
  return names.map((sheet, place) => ({
    sheet,
    isHidden: Boolean(about?.Sheets?.[place]?.Hidden),
    rows: Array.from(sheets[sheet]?.['!data'] ?? [], (row) =>
      row ? Array.from(row, toCell) : EMPTY_ROW,
    ),
    comments: (sheets[sheet]?.['!data'] ?? []).flatMap((row = [], place) =>
      row.flatMap((cell, column) => commentsOf(cell, utils.encode_cell({ r: place, c: column }))),
    ),
  }))
}

function commentsOf(cell: CellObject | undefined, place: string): string[] {
  return (cell?.c ?? []).flatMap(({ a: author = '', t = '' }) => {
    // Excel begins a comment with the name of its author.
    const text = toText(t.startsWith(`${author}:`) ? t.slice(author.length + 1) : t)
    const by = author === '' ? '' : ` by ${author}`
    return text === '' ? [] : `[Comment${by} on ${place}: ${text}]`
  })
}

/** A sheet may have a million of them. */
const EMPTY_ROW: TableRow = []
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
  const count = addRows(text, table, isTitle ? '####' : '###')
  const empty = namesWithoutValues(table)
  if (empty.length > 0) text.add(`\n(Columns without values: ${empty.join('; ')})\n`)
  if (count === rows.length && !isCut) return
  const total = isCut ? '' : ` of ${rows.length}`
  text.add(`\n(The first ${count}${total} rows; the whole table is in the file.)\n`)
}

function addRows(text: BoundedText, { rows, head, first }: SheetTable, level: string): number {
  for (const [position, row] of rows.entries()) {
    if (text.length > MAX_CHARACTERS) return position
    if (position % ROWS_PER_SECTION === 0) text.add(sectionAt(position, rows.length, first, level))
    const cells = row.map(toText).flatMap((cell, i) => {
      if (cell === '') return []
      return head?.[i] ? `${head[i]}: ${cell}` : cell
    })
    if (cells.length > 0) text.add(`- ${cells.join('; ')}\n`)
  }
  return rows.length
}

/** Of columns to be filled in. */
function namesWithoutValues({ head = [], rows }: SheetTable): string[] {
  return head.filter((name, i) => name !== '' && rows.every((row) => toText(row[i]) === ''))
}

/** Rows are numbered from 1, counting everything above them on the sheet. */
function sectionAt(position: number, rows: number, first: number, level: string): string {
  if (rows <= ROWS_PER_SECTION) return ''
  const last = Math.min(position + ROWS_PER_SECTION, rows)
  return `\n${level} Rows ${first + position + 1} to ${first + last}\n\n`
}
