import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { convertTable } from '../src/convert-table.ts'
import { withDatabase } from '../src/duckdb.ts'
import type { TableFormat } from '../src/table-job.ts'

/** Names, types and guesses of the columns of a text, and its rows in words. */
export async function readTables(content: string | Uint8Array, format: TableFormat = 'csv') {
  const directory = await temporaryDirectory()
  const [source, target] = [join(directory, 'source'), join(directory, 'tables.duckdb')]
  await writeFile(source, content)
  const { sheets } = await convertTable({ source, target, format })
  return withDatabase(target, async (connection) => {
    const tables = []
    for (const { table, ...sheet } of sheets) {
      const rows = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${table}`)
      tables.push({
        ...sheet,
        types: sheet.columns.map(({ type }) => type),
        values: rows.getRows(),
      })
    }
    return tables
  })
}
