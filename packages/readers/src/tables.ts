import type { ChosenDialect } from './formats/csv-dialect.ts'
import { type SheetTable, sheetTables } from './sheet-tables.ts'

// The tables of a file as rows; the readers of formats, each loaded on demand, write them as text.

/** The tables of each sheet of a workbook: XLSX, XLS or ODS. Numbers are numbers, dates are `Date`. */
export async function tablesOfWorkbook(
  bytes: Buffer,
): Promise<{ sheet: string; tables: SheetTable[] }[]> {
  const { readWorkbook } = await import('./formats/xlsx.ts')
  const sheets = await readWorkbook(bytes)
  return sheets.map(({ sheet, rows }) => ({ sheet, tables: sheetTables(rows) }))
}

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
