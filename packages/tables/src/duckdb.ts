import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Cell } from './table-job.ts'

const MEMORY_LIMIT = '512MB'
const THREADS = 2

/** Run before any untrusted data is read, so that no file or statement reaches outside this instance. */
const LOCKED = [
  'SET enable_external_access = false',
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET allow_community_extensions = false',
  `SET max_temp_directory_size = '0KB'`,
  'SET max_expression_depth = 250',
  'SET lock_configuration = true',
]

/** Opens a separate database, bounded in memory; it is closed when `use` is done. */
export async function withDatabase<T>(
  path: string,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(path, {
    memory_limit: MEMORY_LIMIT,
    threads: String(THREADS),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  try {
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** After this, no statement can access files, the network, extensions or settings. */
export async function lockDown(connection: DuckDBConnection): Promise<void> {
  for (const statement of LOCKED) await connection.run(statement)
}

/** All rows of a statement's result, which must be few enough to hold in memory. */
export async function rowsOf(connection: DuckDBConnection, sql: string, values: string[] = []) {
  return (await connection.runAndReadAll(sql, values)).getRows()
}

/** Maximum UTF-16 code units of one cell. */
const MAX_CELL_LENGTH = 1_000

/** Converts a value in the engine's JSON form to a cell that can be shown. */
export function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…`.toWellFormed() : text
}
