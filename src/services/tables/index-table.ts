import { DatabaseSync } from 'node:sqlite'
import { type DuckDBResult, JsonDuckDBValueConverter } from '@duckdb/node-api'
import { JobRefusal } from '../../lib/job-process.ts'
import { lockDown, quoteName, quoteText, withDatabase } from './duckdb.ts'
import { columnName } from './index-columns.ts'
import { keyKindOf, toKey } from './row-key.ts'
import type { Column, TableJob } from './table-job.ts'
import { toCell } from './to-cell.ts'

const MOST_CELLS = 10_000_000
const MOST_COLUMNS = 200

type IndexJob = Extract<TableJob, { kind: 'index' }>

/** Writes the rows of a table into a file with an ordered index for each column. Throws `JobRefusal` for too large a one. */
export async function indexTable({ source, table, rows, columns, target }: IndexJob) {
  if (rows * columns.length > MOST_CELLS || columns.length > MOST_COLUMNS) {
    throw new JobRefusal(
      `The table is too large to look up single rows (more than ${MOST_CELLS} cells or ${MOST_COLUMNS} columns): take query_table`,
    )
  }
  await withDatabase(':memory:', async (connection) => {
    await connection.run(`ATTACH ${quoteText(source)} AS source (READ_ONLY)`)
    await lockDown(connection)
    const from = `source.main.${quoteName(table)}`
    await write(target, columns, await connection.stream(`SELECT rowid, * FROM ${from}`))
  })
  return {}
}

async function write(target: string, columns: readonly Column[], from: DuckDBResult) {
  const database = new DatabaseSync(target)
  try {
    // A file that is not whole is never put in place.
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN')
    const names = columns.map((_column, index) => columnName(index))
    database.exec(`CREATE TABLE rows (row INTEGER PRIMARY KEY, told TEXT, ${names.join(', ')})`)
    await fill(database, columns, from)
    for (const name of names) database.exec(`CREATE INDEX by_${name} ON rows (${name})`)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

async function fill(database: DatabaseSync, columns: readonly Column[], from: DuckDBResult) {
  const kinds = columns.map(({ type }) => keyKindOf(type))
  const places = ['?', '?', ...kinds.map(() => '?')].join(', ')
  const insert = database.prepare(`INSERT INTO rows VALUES (${places})`)
  for (;;) {
    const chunk = await from.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    for (const [row, ...values] of chunk.convertRows(JsonDuckDBValueConverter)) {
      const cells = values.map(toCell)
      const keys = kinds.map((kind, index) => toKey(cells[index] ?? null, kind))
      insert.run(Number(row) + 1, JSON.stringify(cells), ...keys)
    }
  }
}
