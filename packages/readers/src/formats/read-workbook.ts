import type * as Library from '@e965/xlsx'
import type { CellObject, Range, WorkSheet } from '@e965/xlsx'
import { subscript, superscript, withoutMarks } from '../marks.ts'
import { isOldWorkbook } from '../refusals.ts'
import { type Cell, MAX_COLUMNS, type TableRow, toText } from '../sheet-tables.ts'
import { dateAt, dayZeroOf, type NumberFormat, numberFormatOf } from './number-format.ts'
import { withoutDrawings } from './ods-drawings.ts'
import { type Formula, type Formulas, formulasOfCells } from './workbook-formulas.ts'

/** Places from 0. */
interface Place {
  row: number
  column: number
}

export interface WorkbookSheet {
  sheet: string
  isHidden: boolean
  /** A merged cell has its value in each of its rows, and in each of its columns if it is not alone in its row. */
  rows: TableRow[]
  /** The formulas that are shown, since no values are stored with them. */
  formulas: readonly Formula[]
  /** Numbers that are repeated because their cells are merged: they count once. */
  repeated: Place[]
  /** The unit in which a number is shown, such as % or €. */
  unitAt(row: number, column: number): string | undefined
  /** A number as it is shown, with its unit. */
  shownAt(row: number, column: number): string
  /** Comments on cells. */
  comments: string[]
}

interface ReadingOptions {
  /** Whether numbers with a unit become texts, as they are shown. */
  asShown?: boolean
  /** Formulas without stored values; those of XLS are found here. */
  formulas?: Formulas | undefined
}

/**
 * Reads the sheets of a workbook: XLSX, XLSB, XLS or ODS. A number is a number, unless its format makes it a code
 * (`00421`), a word, or, with `asShown`, an amount with a unit.
 */
export async function readWorkbook(
  bytes: Buffer,
  { asShown = false, formulas: known }: ReadingOptions = {},
): Promise<WorkbookSheet[]> {
  // Imported on demand, since other modules use only `rowsToText`.
  const { read, SSF, utils } = await import('@e965/xlsx')
  const isOld = isOldWorkbook(bytes)
  const workbook = read(await withoutDrawings(bytes), {
    type: 'buffer',
    dense: true,
    cellNF: true,
    cellText: asShown,
    cellHTML: true,
    cellFormula: isOld,
  })
  const { SheetNames: names, Sheets: sheets, Workbook: about } = workbook
  const cells = cellReader(SSF, dayZeroOf(about?.WBProps?.date1904), asShown)
  const formulas = known ?? formulasOfCells(isOld ? sheets : {})
  return names.map((sheet, place) => {
    const data: WorkSheet['!data'] = sheets[sheet]?.['!data'] ?? []
    const rows = Array.from(data, (row) =>
      row ? Array.from(row.slice(0, MAX_COLUMNS), cells.valueOf) : EMPTY_ROW,
    )
    const shown = formulas.get(sheet) ?? []
    for (const formula of shown) addFormula(rows, formula)
    return {
      sheet,
      isHidden: Boolean(about?.Sheets?.[place]?.Hidden),
      rows,
      formulas: shown,
      repeated: fillMerged(rows, sheets[sheet]?.['!merges'] ?? []),
      unitAt: (row, column) => cells.unitOf(data[row]?.[column]),
      shownAt: (row, column) => cells.shownAs(data[row]?.[column]),
      comments: data.flatMap((row = [], r) =>
        row
          .slice(0, MAX_COLUMNS)
          .flatMap((cell, c) => (cell?.c ? commentsOf(cell, utils.encode_cell({ r, c })) : [])),
      ),
    }
  })
}

/** Excel calculates with 17 digits, of which it shows 15: 0.3 is stored as 0.30000000000000004. */
const asExcelShows = (value: number) =>
  Number.isInteger(value) ? value : Number(value.toPrecision(15))

/** Reads cells by their number formats. */
function cellReader(SSF: typeof Library.SSF, dayZero: number, asShown: boolean) {
  const formats = new Map<string, NumberFormat>()
  const formatOf = (z: string): NumberFormat => {
    const format =
      formats.get(z) ?? (SSF.is_date(z) ? { kind: 'date' as const } : numberFormatOf(z))
    formats.set(z, format)
    return format
  }
  // Some programs write the bare number beside its format.
  const shownAs = ({ w: shown, z, v: value }: Partial<CellObject> = {}) =>
    (shown && shown !== String(value) ? shown : SSF.format(String(z), value)).trim()
  const numberOf = (cell: CellObject, value: number): Cell => {
    const { kind } = formatOf(String(cell.z ?? ''))
    if (kind === 'date') return dateAt(dayZero, value)
    if (kind === 'plain') return asExcelShows(value)
    // Accounts show 0 as a hyphen.
    if (kind === 'unit') return asShown && value !== 0 ? shownAs(cell) : asExcelShows(value)
    return shownAs(cell) || value
  }
  return {
    shownAs,
    valueOf(cell: CellObject | undefined): Cell {
      if (!cell || cell.t === 'e') return null
      const { v: value = null } = cell
      if (typeof value === 'number') return numberOf(cell, value)
      return typeof value === 'string' ? stringOf(cell, value) : value
    },
    unitOf(cell: CellObject | undefined): string | undefined {
      const format = cell?.t === 'n' ? formatOf(String(cell.z ?? '')) : undefined
      return format?.kind === 'unit' ? format.unit : undefined
    },
  }
}

/**
 * Where signs are above or below the line, these are kept apart: of XLSX by its HTML, of ODS by marks. The library does
 * not escape the text of that HTML: a tag is what the value does not have.
 */
function stringOf({ h: html = '' }: CellObject, value: string): string {
  if (!/<su[bp]>/.test(html)) return withoutMarks(value)
  let text = ''
  let at = 0
  let script: ((text: string) => string) | undefined
  for (const [piece] of html.matchAll(/<[^<>]*>|[^<]+|</g)) {
    const isTag = !value.startsWith(piece, at)
    if (isTag && SCRIPT_TAG.test(piece)) script = SCRIPTS.get(piece)
    const words = isTag ? textOfTag(piece) : piece
    text += words === '' ? '' : (script?.(words) ?? words)
    at += words.length
  }
  return withoutMarks(text)
}

const textOfTag = (tag: string) => (tag === '<br/>' ? '\n' : '')
const SCRIPT_TAG = /^<\/?su[bp]>$/
const SCRIPTS = new Map([
  ['<sup>', superscript],
  ['<sub>', subscript],
])

function addFormula(rows: Cell[][], { row, column, formula, isZero }: Formula): void {
  if (row < 0 || row >= MAX_ROWS || column >= MAX_COLUMNS) return
  while (rows.length <= row) rows.push(EMPTY_ROW)
  const cells = rows[row] ?? EMPTY_ROW
  if (!isEmpty(cells[column]) && !isZero) return
  rows[row] = cells === EMPTY_ROW ? [] : cells
  put(rows[row], column, formula)
}

/** Without holes, which not every method of arrays passes over. */
function put(cells: Cell[], column: number, value: Cell): void {
  while (cells.length < column) cells.push(null)
  cells[column] = value
}

/** As many as Excel has. */
const MAX_ROWS = 2 ** 20
/** A sheet may have a million of them. */
const EMPTY_ROW: Cell[] = []
/** Cells that merged cells fill in one sheet. */
const MAX_FILLED = 200_000

/**
 * Writes the value of each merged cell into the rows and columns that it spans: a row is then understood by itself. Rows
 * without any other value stay empty, and a title stays alone in its row. Returns the numbers that were repeated.
 */
function fillMerged(rows: Cell[][], merges: readonly Range[]): Place[] {
  const repeated: Place[] = []
  let room = MAX_FILLED
  for (const merge of merges) {
    const { s: first, e: last } = merge
    const value = rows[first.r]?.[first.c]
    if (isEmpty(value)) continue
    for (const [row, cells] of rows.slice(first.r, last.r + 1).entries()) {
      room -= cells.length + 1
      if (room < 0) return repeated
      const columns = fillRow(cells, value, merge)
      if (typeof value !== 'number') continue
      repeated.push(...columns.map((column) => ({ row: first.r + row, column })))
    }
  }
  return repeated
}

const isEmpty = (cell: Cell) => toText(cell) === ''

/** Fills a row of a merged cell, unless it has nothing else. Returns the columns that it filled. */
function fillRow(cells: Cell[], value: Cell, { s: first, e: last }: Range): number[] {
  const end = Math.min(last.c + 1, MAX_COLUMNS)
  const isOutside = (column: number) => column < first.c || column >= end
  if (!cells.some((cell, column) => isOutside(column) && !isEmpty(cell))) return []
  const columns: number[] = []
  for (let column = first.c; column < end; column++) {
    if (!isEmpty(cells[column])) continue
    put(cells, column, value)
    columns.push(column)
  }
  return columns
}

function commentsOf(cell: CellObject, place: string): string[] {
  return (cell.c ?? []).flatMap(({ a: author = '', t = '' }) => {
    // Excel begins a comment with the name of its author.
    const text = toText(t.startsWith(`${author}:`) ? t.slice(author.length + 1) : t)
    const by = author.trim() === '' || LIBRARY_AUTHORS.has(author) ? '' : ` by ${author}`
    return text === '' ? [] : `[Comment${by} on ${place}: ${text}]`
  })
}

/** What libraries put where there is no author. */
const LIBRARY_AUTHORS = new Set(['sheetjsghost', 'SheetJS', 'None'])
