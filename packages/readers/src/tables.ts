import type { ChosenDialect } from './formats/csv-dialect.ts'
import type { WorkbookSheet } from './formats/read-workbook.ts'
import type { Formulas } from './formats/workbook-formulas.ts'
import { type SheetTable, sheetTables } from './sheet-tables.ts'
import { openZip, ZIP_MARK } from './zip-archive.ts'

// The tables of a file as rows; the readers of formats, each loaded on demand, write them as text.

/** A table of a workbook. */
export interface WorkbookTable extends SheetTable {
  /** The unit in which the numbers of a column are shown, by its index. */
  units: ReadonlyMap<number, string>
  /** What has to be known before its values are added up. */
  remarks: string[]
}

/** The tables of each sheet of a workbook: XLSX, XLSB, XLS or ODS. Numbers are numbers, dates are `Date`. */
export async function tablesOfWorkbook(
  bytes: Buffer,
): Promise<{ sheet: string; tables: WorkbookTable[] }[]> {
  const { readWorkbook } = await import('./formats/read-workbook.ts')
  const formulas = await formulasOf(bytes)
  const sheets = await readWorkbook(bytes, { formulas })
  return sheets.map((sheet) => ({
    sheet: sheet.sheet,
    tables: sheetTables(sheet.rows).map((table) => withUnits(table, sheet)),
  }))
}

async function formulasOf(bytes: Buffer): Promise<Formulas | undefined> {
  if (!bytes.subarray(0, ZIP_MARK.length).equals(ZIP_MARK)) return undefined
  const { formulasOfXlsx } = await import('./formats/workbook-formulas.ts')
  const { mainPartOf } = await import('./formats/ooxml.ts')
  const zip = await openZip(bytes)
  const main = await mainPartOf(zip)
  if (main?.kind !== 'workbook') return undefined
  const { sheetPaths } = await import('./formats/sheet-parts.ts')
  return formulasOfXlsx(zip, await sheetPaths(zip, main.path), main.path)
}

/** A column with numbers in several units becomes texts, as adding them up would be wrong. */
function withUnits(table: SheetTable, sheet: WorkbookSheet): WorkbookTable {
  const { first, left = 0, rows, head = [] } = table
  const height = rows.length
  const isWithin = (at: { row: number; column: number }) =>
    at.row >= first && at.row < first + height && at.column >= left
  const unitsAt = (column: number) =>
    new Set(rows.flatMap((_, row) => sheet.unitAt(first + row, left + column) ?? []))
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const columns = Array.from({ length: width }, (_, column) => [...unitsAt(column)])
  const units = new Map(
    columns.flatMap((all, column) =>
      all.length === 1 && all[0] !== undefined ? [[column, all[0]] as const] : [],
    ),
  )
  const isMixed = columns.map((all) => all.length > 1)
  const nameOf = (column: number) => head[column] || `column${column + 1}`
  const repeated = new Set(
    sheet.repeated.filter(isWithin).map(({ column }) => nameOf(column - left)),
  )
  const uncalculated = new Set(
    sheet.formulas.filter(isWithin).map(({ column }) => nameOf(column - left)),
  )
  return {
    ...table,
    rows: isMixed.includes(true)
      ? rows.map((row, place) =>
          row.map((cell, column) =>
            isMixed[column] && sheet.unitAt(first + place, left + column) !== undefined
              ? sheet.shownAt(first + place, left + column)
              : cell,
          ),
        )
      : rows,
    units,
    remarks: [
      ...columnsNote(
        'Numbers of merged cells are repeated in each of their rows and columns: count them once',
        repeated,
      ),
      ...columnsNote('Formulas whose values the file does not have', uncalculated),
    ],
  }
}

const columnsNote = (what: string, names: ReadonlySet<string>) =>
  names.size > 0 ? [`${what} (${[...names].slice(0, MAX_NAMED).join(', ')})`] : []

/** Columns that are named in a remark. */
const MAX_NAMED = 10

/** The tables of a text with a delimiter, such as CSV. All values are texts. */
export async function tablesOfText(
  text: string,
  name = '',
): Promise<{ dialect: ChosenDialect; tables: SheetTable[] }> {
  const { dialectOf } = await import('./formats/csv-dialect.ts')
  const { readDelimited } = await import('./formats/delimited-rows.ts')
  const dialect = dialectOf(text, name)
  const { rows } = readDelimited(text.slice(dialect.start), dialect)
  return { dialect, tables: sheetTables(rows) }
}
