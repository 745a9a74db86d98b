import { AppError } from '@agent-server/lib/errors.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import type { BackupRecord, BackupRows, BackupStart } from '../backup.ts'
import { newerThan } from './newer.ts'
import type { Row, Tx, Value } from './query.ts'

/** What ends with the process or the browser, and what the server writes of itself. */
const LEFT_OUT = new Set(['announcers', 'moved_jobs', 'moves', 'schema_version', 'sessions'])
/** Tables in which the schema puts rows, by their keys. */
const BEGUN = new Map([
  ['meta', 'name'],
  ['counts', 'slot'],
])
/** Written without anybody's doing. */
const OF_THE_SERVER = new Set([...LEFT_OUT, ...BEGUN.keys(), 'key_marks'])

/** A copy must not have the identity by which an index knows the original. */
const OWN = `WHERE name <> 'identity'`
/** Nobody works on what was claimed: the next start puts it back. */
const END_CLAIMS = 'UPDATE jobs SET due_at = 0 WHERE claim IS NOT NULL'

export interface Tables {
  names: readonly string[]
  /** Which table refers to which. */
  references: readonly { from: string; to: string }[]
}

const quoted = (name: string) => `"${name}"`

/** The tables that belong in a backup, each after those that it refers to. */
function inOrder({ names, references }: Tables): string[] {
  const left = new Set(names.filter((name) => !LEFT_OUT.has(name)))
  const ordered: string[] = []
  while (left.size > 0) {
    const waits = (name: string) =>
      references.some(({ from, to }) => from === name && to !== name && left.has(to))
    const next = [...left].filter((name) => !waits(name)).toSorted()
    if (next.length === 0) throw new Error(`These tables refer to one another: ${[...left]}`)
    for (const name of next) left.delete(name)
    ordered.push(...next)
  }
  return ordered
}

interface Source {
  tables: Tables
  start: Omit<BackupStart, 'kind' | 'rows'>
  count(select: string): Promise<number>
  /** The rows of a table, by a query, a few at a time. */
  batches(table: string, select: string): AsyncIterable<readonly Row[]>
}

/** Everything in the database, as of the start of the transaction. */
export async function* readBackupFrom(
  source: Source,
  signal: AbortSignal,
): AsyncGenerator<BackupRecord> {
  const selects = inOrder(source.tables).map((table) => {
    return [table, `FROM ${quoted(table)} ${table === 'meta' ? OWN : ''}`] as const
  })
  const rows: Record<string, number> = {}
  for (const [table, from] of selects)
    rows[table] = await source.count(`SELECT count(*) AS n ${from}`)
  yield { kind: 'start', ...source.start, rows }
  for (const [table, from] of selects) {
    for await (const batch of source.batches(table, `SELECT * ${from}`)) {
      signal.throwIfAborted()
      const [first] = batch
      if (!first) continue
      const columns = Object.keys(first)
      yield {
        kind: 'rows',
        table,
        columns,
        rows: batch.map((row) => columns.map((column) => toValue(row[column]))),
      }
    }
  }
}

function toValue(value: unknown): Value {
  const isPlain = value === null || typeof value === 'string' || typeof value === 'number'
  if (isPlain || value instanceof Uint8Array) return value
  throw new TypeError(`A column should hold no ${typeof value}`)
}

/** Throws `store_unavailable` if somebody's data are in the tables. */
export async function refuseDataIn(
  tx: Pick<Tx, 'one'>,
  names: readonly string[],
  remedy: string,
): Promise<void> {
  const full: string[] = []
  for (const name of names) {
    if (OF_THE_SERVER.has(name)) continue
    if (await tx.one({ unprepared: `SELECT 1 FROM ${quoted(name)} LIMIT 1` })) full.push(name)
  }
  if (full.length === 0) return
  const where = full.toSorted().join(', ')
  throw new AppError('store_unavailable', `There is data already (${where}). ${remedy}`)
}

/** `overriding` lets numbers be given that the database would give out by itself. */
export async function writeRows(
  { run }: Tx,
  { table, columns, rows }: BackupRows,
  overriding = '',
): Promise<void> {
  const names = columns.map(quoted).join(', ')
  const places = columns.map((_, place) => `$${place + 1}`).join(', ')
  const insert = `INSERT INTO ${quoted(table)} (${names}) ${overriding} VALUES (${places})`
  const key = BEGUN.get(table)
  if (key !== undefined) {
    const replace = `DELETE FROM ${quoted(table)} WHERE ${key} = $1`
    for (const row of rows) await run(replace, [row[columns.indexOf(key)]])
  }
  await Promise.all(rows.map((row) => run(insert, row)))
}

export const endClaims = ({ run }: Tx) => run(END_CLAIMS)

function refuseNewer({ schema: version, program }: BackupStart, newest: number): void {
  if (version <= newest) return
  const back = 'restore a backup made before the upgrade.'
  throw new AppError('store_unavailable', newerThan(newest, { version, program }, back))
}

/**
 * Passes the records on. Throws `store_unavailable` if their schema is above the newest that is known, and an Error
 * unless there are exactly the rows that the start names.
 */
export async function* checkedBackup(
  records: AsyncIterable<BackupRecord>,
  newest: number,
  signal: AbortSignal,
): AsyncGenerator<BackupRecord> {
  let start: BackupStart | undefined
  const counts = new Map<string, number>()
  for await (const record of records) {
    signal.throwIfAborted()
    if (record.kind === 'start') {
      refuseNewer(record, newest)
      start = record
    } else counts.set(record.table, (counts.get(record.table) ?? 0) + record.rows.length)
    yield record
  }
  if (!start) throw new Error('The backup has no beginning')
  for (const table of new Set([...Object.keys(start.rows), ...counts.keys()])) {
    const [found, expected] = [counts.get(table) ?? 0, start.rows[table] ?? 0]
    if (found !== expected)
      throw new Error(`The table ${table} has ${counted(found, 'row')} instead of ${expected}`)
  }
}
