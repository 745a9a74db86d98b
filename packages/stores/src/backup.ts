import type { Value } from './sql/query.ts'

/** What to expect of the rest: how many rows each table has. */
export interface BackupStart {
  kind: 'start'
  /** The schema that the rows have; a newer server restores them under it, and then migrates. */
  schema: number
  /** The version of the program that wrote a backup; absent while one is read from a store. */
  program?: string
  store: 'SQLite' | 'PostgreSQL'
  rows: Readonly<Record<string, number>>
  /** The last number that each table gave out, which a deleted row may have had. */
  numbers: Readonly<Record<string, number>>
}

/** Some rows of a table, which follows those that it refers to. */
export interface BackupRows {
  kind: 'rows'
  table: string
  columns: readonly string[]
  rows: readonly (readonly Value[])[]
}

export type BackupRecord = BackupStart | BackupRows

/** Everything that a store holds, apart from what is derived or ends with its process, as rows that either store takes. */
export interface Backup {
  /** Reads a consistent snapshot, whatever is written meanwhile, in bounded memory. */
  read(signal: AbortSignal): AsyncIterable<BackupRecord>
  /** Throws `store_unavailable` if the store holds anything, or a server uses it. */
  refuseData(): Promise<void>
  /**
   * Writes everything or nothing, in bounded memory, while no server is running on it. Calls `beforeEnd` once only the
   * last step is left. Throws like `refuseData`, and `store_unavailable` for rows of a newer schema.
   */
  write(
    records: AsyncIterable<BackupRecord>,
    beforeEnd: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
}
