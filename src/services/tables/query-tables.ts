import {
  type DuckDBConnection,
  type DuckDBResult,
  JsonDuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api'
import { JobRefusal } from '../../lib/job.ts'
import { lockDown, quoteName, quoteText, toCell, withDatabase } from './duckdb.ts'
import type { Cell, QueryJob, QueryResult } from './table-job.ts'

/** Rows past the cap that are still counted. */
const MAX_COUNTED = 1_000_000
/** Functions that tell of the machine, not of the data. */
const OF_THE_SYSTEM = /\b(?:duckdb_|pragma|pg_|current_setting|getvariable)\w*/i

/** Runs one statement that reads, over views of read-only files. Throws `JobRefusal` in the words of the engine. */
export function queryTables(job: QueryJob): Promise<QueryResult> {
  return withDatabase(':memory:', async (connection) => {
    await attach(connection, job)
    await lockDown(connection)
    try {
      const result = await start(connection, job)
      return await read(result, job.maximumRows)
    } catch (error) {
      if (error instanceof JobRefusal || !(error instanceof Error)) throw error
      throw new JobRefusal(withoutPaths(error.message, job))
    }
  })
}

async function attach(connection: DuckDBConnection, { views }: QueryJob): Promise<void> {
  const files = [...new Set(views.map(({ file }) => file))]
  for (const [index, file] of files.entries()) {
    await connection.run(`ATTACH ${quoteText(file)} AS file${index} (READ_ONLY)`)
  }
  for (const { name, file, table } of views) {
    const source = `file${files.indexOf(file)}.main.${quoteName(table)}`
    await connection.run(`CREATE VIEW ${quoteName(name)} AS SELECT * FROM ${source}`)
  }
}

async function start(
  connection: DuckDBConnection,
  { sql, isTrusted }: QueryJob,
): Promise<DuckDBResult> {
  if (!isTrusted && OF_THE_SYSTEM.test(sql)) {
    throw new JobRefusal('Functions of the system cannot be called')
  }
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) {
    throw new JobRefusal('Exactly one statement can be run (and PIVOT is more than one)')
  }
  const prepared = await statements.prepare(0)
  if (prepared.statementType !== StatementType.SELECT) {
    throw new JobRefusal('Only a SELECT can be run')
  }
  return prepared.stream()
}

async function read(result: DuckDBResult, maximumRows: number): Promise<QueryResult> {
  const types = result.columnTypes()
  const columns = result
    .deduplicatedColumnNames()
    .map((name, index) => ({ name, type: String(types[index]) }))
  const rows: Cell[][] = []
  let rowCount = 0
  while (rowCount < MAX_COUNTED) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return { columns, rows, rowCount, isMore: false }
    rowCount += chunk.rowCount
    if (rows.length >= maximumRows) continue
    const values = chunk.convertRows(JsonDuckDBValueConverter)
    rows.push(...values.slice(0, maximumRows - rows.length).map((row) => row.map(toCell)))
  }
  return { columns, rows, rowCount, isMore: true }
}

function withoutPaths(message: string, { views }: { views: { file: string }[] }): string {
  return views.reduce((words, { file }) => words.replaceAll(file, '…'), message)
}
