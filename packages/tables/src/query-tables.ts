import { Refusal } from '@agent-server/lib/refusal.ts'
import { isObject } from '@agent-server/lib/text/json.ts'
import {
  type DuckDBConnection,
  type DuckDBResult,
  JsonDuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api'
import { z } from 'zod'
import { lockDown, rowsOf, toCell, withDatabase } from './duckdb.ts'
import { type Cell, type QueryJob, type QueryResult, quoteName, quoteText } from './table-job.ts'

/** Rows beyond the cap that are still counted. */
const MAX_COUNTED = 1_000_000
/** Functions that generate rows and read nothing. */
const ROW_FUNCTIONS = ['range', 'generate_series', 'unnest', 'repeat', 'repeat_row']
/** Functions that reveal the machine or the engine instead of the data. */
const SYSTEM_FUNCTIONS =
  /^(?:duckdb_|pragma|pg_|current_(?!date|time|localt)|getenv|getvariable|has_|json_execute|query|txid|write_log)/i

/** Runs one reading statement over views of read-only files. Throws `Refusal` in the engine's words. */
export function queryTables(job: QueryJob): Promise<QueryResult> {
  return withDatabase(':memory:', async (connection) => {
    await attach(connection, job)
    await lockDown(connection)
    try {
      const result = await start(connection, job)
      return await read(result, job.maximumRows)
    } catch (error) {
      if (error instanceof Refusal || !(error instanceof Error)) throw error
      throw new Refusal(withoutPaths(error.message, job))
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
  { sql, isTrusted, views }: QueryJob,
): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) {
    throw new Refusal('Exactly one statement can be run (and PIVOT is more than one)')
  }
  const isChecked = isTrusted || (await checkSources(connection, sql, views))
  const prepared = await statements.prepare(0)
  if (prepared.statementType !== StatementType.SELECT) {
    throw new Refusal('Only a SELECT can be run')
  }
  if (!isChecked)
    throw new Refusal('What this statement reads cannot be determined: write it more simply')
  return prepared.stream()
}

/** The parts of a node of a parsed statement that tell what it reads. */
const Node = z.object({
  /** An object where it is the type of a value. */
  type: z.unknown().optional(),
  schema_name: z.string().nullish(),
  table_name: z.string().nullish(),
  function_name: z.string().nullish(),
  function: z.object({ function_name: z.string() }).nullish(),
  cte_map: z.object({ map: z.array(z.object({ key: z.string() })) }).nullish(),
  /** The subject of a `SHOW_REF`; null if that is the catalogue. */
  query: z.unknown().optional(),
})
type Node = z.output<typeof Node>
const Parsed = z.object({ error: z.literal(false) })

/**
 * Lets a statement read the views and what it defines itself, and nothing else: neither the catalogue, nor files, nor
 * text run as SQL. Returns false if what the statement reads cannot be determined, as for anything but a SELECT; throws
 * `Refusal` for a forbidden source.
 */
async function checkSources(
  connection: DuckDBConnection,
  sql: string,
  views: QueryJob['views'],
): Promise<boolean> {
  const [serialized] = await rowsOf(connection, 'SELECT json_serialize_sql($1::VARCHAR)', [sql])
  const objects: unknown[] = []
  const tree: unknown = JSON.parse(String(serialized?.[0]), (_key, value) => {
    if (isObject(value)) objects.push(value)
    return value
  })
  const { success: isRead, data: nodes = [] } = z.array(Node).safeParse(objects)
  if (!isRead || !Parsed.safeParse(tree).success) return false
  const defined = nodes.flatMap(({ cte_map }) => cte_map?.map.map(({ key }) => key) ?? [])
  const names = [...views.map(({ name }) => name), ...defined]
  const tableNames = new Set(names.map((name) => name.toLowerCase()))
  for (const node of nodes) {
    const refusal = refusalOf(node, tableNames)
    if (refusal !== undefined) throw new Refusal(refusal)
  }
  return true
}

function refusalOf(node: Node, tableNames: ReadonlySet<string>): string | undefined {
  const { type, schema_name: schema } = node
  const table = node.table_name ?? ''
  const called = node.function_name ?? ''
  if (type === 'SHOW_REF' && node.query === null) return 'list_tables names the tables'
  if (type === 'BASE_TABLE' && (schema !== '' || !tableNames.has(table.toLowerCase()))) {
    return `There is no table "${table}": list_tables names them`
  }
  const rows = type === 'TABLE_FUNCTION' ? (node.function?.function_name ?? '') : undefined
  const isRefused =
    rows === undefined ? SYSTEM_FUNCTIONS.test(called) : !ROW_FUNCTIONS.includes(rows)
  return isRefused ? `The function ${rows ?? called} cannot be called` : undefined
}

async function read(result: DuckDBResult, maximumRows: number): Promise<QueryResult> {
  const types = result.columnTypes()
  const columns = result
    .deduplicatedColumnNames()
    .map((name, index) => ({ name, type: String(types[index]) }))
  const rows: Cell[][] = []
  let rowCount = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return { columns, rows, rowCount, isMore: false }
    if (rowCount >= MAX_COUNTED) return { columns, rows, rowCount, isMore: true }
    rowCount += chunk.rowCount
    if (rows.length >= maximumRows) continue
    const values = chunk.convertRows(JsonDuckDBValueConverter)
    rows.push(...values.slice(0, maximumRows - rows.length).map((row) => row.map(toCell)))
  }
}

function withoutPaths(message: string, { views }: { views: { file: string }[] }): string {
  return views.reduce((text, { file }) => text.replaceAll(file, '…'), message)
}
