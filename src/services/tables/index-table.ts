import { type DuckDBResult, JsonDuckDBValueConverter } from '@duckdb/node-api'
import { JobRefusal } from '../../lib/processes/job.ts'
import { type StoredRow, writeRowFile } from '../../stores/row-file.ts'
import { lockDown, quoteName, quoteText, toCell, withDatabase } from './duckdb.ts'
import { keyKindOf, toKey } from './look-up-rows.ts'
import type { Column, IndexJob } from './table-job.ts'

const MAX_CELLS = 10_000_000
const MAX_COLUMNS = 200

/** Writes the rows of a table into a file with an ordered index per column. Throws `JobRefusal` if it is too large. */
export async function indexTable(job: IndexJob): Promise<void> {
  const { source, table, rows, columns, target } = job
  if (rows * columns.length > MAX_CELLS || columns.length > MAX_COLUMNS) {
    throw new JobRefusal(
      `The table is too large to look up single rows (more than ${MAX_CELLS} cells or ${MAX_COLUMNS} columns): take query_table`,
    )
  }
  await withDatabase(':memory:', async (connection) => {
    await connection.run(`ATTACH ${quoteText(source)} AS source (READ_ONLY)`)
    await lockDown(connection)
    const from = `source.main.${quoteName(table)}`
    const read = await connection.stream(`SELECT rowid, * FROM ${from}`)
    await writeRowFile(target, columns.length, chunksOf(read, columns))
  })
}

async function* chunksOf(
  from: DuckDBResult,
  columns: readonly Column[],
): AsyncGenerator<StoredRow[]> {
  const kinds = columns.map(({ type }) => keyKindOf(type))
  for (;;) {
    const chunk = await from.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    yield chunk.convertRows(JsonDuckDBValueConverter).map(([place, ...values]) => {
      const cells = values.map(toCell)
      return {
        row: Number(place) + 1,
        text: JSON.stringify(cells),
        keys: kinds.map((kind, index) => toKey(cells[index] ?? null, kind)),
      }
    })
  }
}
