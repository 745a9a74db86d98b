import type { DocumentStatus } from '../document-store.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Read, type Tx, text } from './query.ts'

/** By how much the numbers of documents of a status, of chunks and of jobs change. */
export type Changes = Partial<Record<DocumentStatus | 'chunks' | 'jobs', number>>

/** Grows with every commit that may have changed what somebody sees. */
export const CHANGES = 'SELECT CAST(sum(changes) AS bigint) AS changes FROM counts'

/** Comes last in a transaction, for the same reason as `count`. */
export async function noteChange(tx: Tx, { slot }: Pick<Dialect, 'slot'>): Promise<void> {
  await tx.run(`UPDATE counts SET changes = changes + 1 WHERE slot = ${slot}`)
}

/**
 * Counts in the row of this connection, so that commits do not wait for one another; only the sum of all rows means
 * something. Comes last in a transaction, as the row stays locked until it ends.
 */
export async function count(tx: Tx, { slot }: Dialect, changes: Changes): Promise<void> {
  const { pending = 0, processing = 0, ready = 0, failed = 0, chunks = 0, jobs = 0 } = changes
  await tx.run(
    `UPDATE counts SET pending = pending + $1, processing = processing + $2, ready = ready + $3,
      failed = failed + $4, chunks = chunks + $5, jobs = jobs + $6 WHERE slot = ${slot}`,
    [pending, processing, ready, failed, chunks, jobs],
  )
}

const COUNT_MS = 30_000

/** With nothing beside it, `count(*)` lets SQLite count by pages instead of rows. */
export const rowCounts = (tables: readonly string[]) =>
  tables
    .map((table) => `SELECT '${table}' AS name, (SELECT count(*) FROM ${table}) AS n`)
    .join(' UNION ALL ')

/** Takes a while in a large database. */
export function createRowCount(read: Read): OpenedStore['countRows'] {
  return async (tables) => {
    const rows = await read({ unprepared: rowCounts(tables) }, [], COUNT_MS)
    return new Map(rows.map((row) => [text(row, 'name'), integer(row, 'n')]))
  }
}

/** With their indexes. Takes as long as to read the database once, where that has to be measured. */
export function createTableBytes(
  read: Read,
  { tableBytes }: Pick<Dialect, 'tableBytes'>,
): OpenedStore['tableBytes'] {
  return async () => {
    const rows = await read({ unprepared: tableBytes }, [], COUNT_MS)
    return new Map(rows.map((row) => [text(row, 'name'), integer(row, 'bytes')]))
  }
}
