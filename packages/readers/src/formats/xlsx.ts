import {
  type BoundedText,
  createBoundedText,
  type Extracted,
  type ReadingWarning,
  toMarkdownList,
} from '../extracted.ts'
import { type SheetTable, sheetTables, type TableRow, toText } from '../sheet-tables.ts'
import { chartToText } from './chart.ts'
import type { ShowPicture } from './image.ts'
import { readWorkbook, type WorkbookSheet } from './read-workbook.ts'
import type { PartsOfSheets, SheetParts } from './sheet-parts.ts'
import type { Formulas } from './workbook-formulas.ts'

/**
 * Sheet by sheet, each under its name and with what `parts` hold, and `show` says for its images; percentages and amounts
 * of money as they are shown.
 */
export async function extractWorkbook(
  bytes: Buffer,
  parts: PartsOfSheets,
  show: ShowPicture = async () => '',
  formulas?: Formulas,
): Promise<Extracted> {
  const text = createBoundedText()
  const hidden: string[] = []
  const partlyHidden: string[] = []
  let tables = 0
  const sheets = await readWorkbook(bytes, { asShown: true, formulas })
  for (const { sheet, isHidden, rows, comments } of sheets) {
    const more = parts.get(sheet)
    const onSheet = sheetTables(rows)
    tables += onSheet.filter((table) => table.rows.length > 0).length
    const pictures = await Array.fromAsync(more?.pictures ?? [], show)
    const content = [
      tablesToText(onSheet),
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
  text.add(furnitureOf(parts))
  const warnings = [
    ...warningOf('hidden_sheets', 'Hidden sheets', hidden),
    ...warningOf('hidden_cells', 'Hidden rows or columns', partlyHidden),
    ...uncalculated(formulas, sheets),
  ]
  return {
    text: text.toString(),
    ...(tables > 0 && { tables }),
    ...(warnings.length > 0 && { warnings }),
  }
}

/** What is printed on each page, once. */
function furnitureOf(parts: PartsOfSheets): string {
  const lines = new Set([...parts.values()].flatMap(({ furniture = [] }) => furniture))
  return lines.size > 0 ? `${[...lines].join('\n\n')}\n` : ''
}

const asParagraphs = (texts: readonly string[]) => texts.filter(Boolean).map((text) => `${text}\n`)

/** UTF-16 code units of the names of sheets in a warning. */
const MAX_NAMES = 200

function warningOf(code: string, what: string, sheets: readonly string[]): ReadingWarning[] {
  if (sheets.length === 0) return []
  return [{ code, message: `${what} were read, too: ${sheets.join(', ').slice(0, MAX_NAMES)}` }]
}

function uncalculated(
  formulas: Formulas | undefined,
  sheets: readonly WorkbookSheet[],
): ReadingWarning[] {
  const own = sheets.flatMap(({ sheet, formulas: shown }) => (shown.length > 0 ? [sheet] : []))
  const all = [...new Set([...(formulas?.keys() ?? []), ...own])]
  const names = all.join(', ').slice(0, MAX_NAMES)
  if (all.length === 0) return []
  const advice = 'open the file in a spreadsheet program, save it and send it again'
  return [
    {
      code: 'uncalculated_formulas',
      message: `Formulas without stored values are shown as formulas: ${names}. To have values, ${advice}`,
    },
  ]
}

/** If the values of a chart are on a sheet, only its title. */
function drawnToText(parts: Partial<SheetParts> = {}): string[] {
  const { charts = [], smartArt = [], textBoxes = [] } = parts
  const texts = charts.flatMap((chart) => {
    if (!chart.isOfCells) return `${chartToText(chart)}\n`
    return chart.title === '' ? [] : `${chartToText({ ...chart, tables: [] })}\n`
  })
  return [
    ...textBoxes,
    ...texts,
    ...(smartArt.length === 0 ? [] : [`${toMarkdownList(smartArt)}\n`]),
  ]
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

/** Maximum UTF-16 code units that one sheet adds to the text; the agent's tools read all of it. */
const MAX_CHARACTERS = 2_000_000
/** In a longer table, a heading states the row numbers every so many rows. */
const ROWS_PER_SECTION = 25
const MAX_TITLE = 120

/**
 * Writes a line per row, with the column name before each value, so that a row can be understood wherever the table is
 * cut into chunks. Empty cells are left out. A table that is too long ends in a line that says how many rows it has.
 */
export const rowsToText = (rows: readonly TableRow[], isCut = false): string =>
  tablesToText(sheetTables(rows), isCut)

function tablesToText(tables: readonly SheetTable[], isCut = false): string {
  const text = createBoundedText(Number.POSITIVE_INFINITY)
  for (const table of tables) addTable(text, table, isCut && table === tables.at(-1))
  return text.toString()
}

function addTable(text: BoundedText, table: SheetTable, isCut: boolean): void {
  const { notes, rows, notesBelow = [] } = table
  const [title = ''] = rows.length > 0 ? notes : []
  const isTitle = title !== '' && title.length <= MAX_TITLE
  if (isTitle) text.add(`\n### ${title}\n\n`)
  for (const note of isTitle ? notes.slice(1) : notes) text.add(`${note}\n\n`)
  const count = addRows(text, table, isTitle ? '####' : '###')
  const empty = namesWithoutValues(table)
  if (empty.length > 0) text.add(`\n(Columns without values: ${empty.join('; ')})\n`)
  for (const note of notesBelow) text.add(`\n${note}\n`)
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

/** The names of columns to be filled in. */
function namesWithoutValues({ head = [], rows }: SheetTable): string[] {
  return head.filter((name, i) => name !== '' && rows.every((row) => toText(row[i]) === ''))
}

/** Rows are numbered from 1, counting everything above them on the sheet. */
function sectionAt(position: number, rows: number, first: number, level: string): string {
  if (rows <= ROWS_PER_SECTION) return ''
  const last = Math.min(position + ROWS_PER_SECTION, rows)
  return `\n${level} Rows ${first + position + 1} to ${first + last}\n\n`
}
