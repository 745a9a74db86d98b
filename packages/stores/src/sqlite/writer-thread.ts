import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '@agent-server/lib/errors.ts'
import { serveThread } from '@agent-server/lib/processes/thread.ts'
import type { CopyPolicy } from '../opened-store.ts'
import { createWrites, type Write } from '../sql/writes.ts'
import { emptyLog, openForWriting, withRoom } from './connection.ts'
import { SQLITE } from './dialect.ts'
import { toStoreError } from './error.ts'
import { type Upgrade, upgrade } from './upgrade.ts'
import { GroupRunner, type Outcome } from './writes.ts'

interface WriterOptions {
  file: string
  /** The most documents that may be queued for ingestion or in progress. */
  queueLimit: number
  copyPolicy: CopyPolicy
}

export type WriterMethods = typeof methods

let database: DatabaseSync | undefined
let groups: GroupRunner | undefined
/** Set while the log may contain deleted data. */
let emptying: NodeJS.Timeout | undefined

/** The log is emptied after this long without a write. */
const QUIET_MS = 1_000

function emptyLogWhenQuiet(): void {
  clearTimeout(emptying)
  emptying = setTimeout(() => {
    try {
      if (database && !emptyLog(database)) emptyLogWhenQuiet()
    } catch (error) {
      // The disk is full or unavailable: the next write reports it, and emptying is retried later.
      if (toStoreError(error) instanceof AppError) emptyLogWhenQuiet()
      else throw error
    }
  }, QUIET_MS).unref()
}

const methods = {
  async open({ file, queueLimit, copyPolicy }: WriterOptions): Promise<Upgrade> {
    try {
      database = openForWriting(file)
      const migration = await upgrade(database, copyPolicy)
      // Uploads that were interrupted when an earlier process ended; no new ones are possible yet.
      const opened = database
      await withRoom(opened, () => opened.exec('DELETE FROM files WHERE document IS NULL'))
      groups = new GroupRunner(database, createWrites(SQLITE, queueLimit))
      return migration
    } catch (thrown) {
      const error = toStoreError(thrown)
      if (!(error instanceof AppError)) throw error
      throw new AppError(error.code, `Cannot open ${file}: ${error.message}`)
    }
  },

  async write(group: readonly Write[]): Promise<Outcome[]> {
    if (!database || !groups) throw new Error('The writer is not open')
    emptyLogWhenQuiet()
    const outcomes = await groups.run(group)
    // Pieces of files are not read again soon.
    if (group.some(({ name }) => name === 'addPiece')) database.exec('PRAGMA shrink_memory')
    return outcomes
  },

  /** Merges the log into the database, which the last connection does when it closes. */
  close(): void {
    clearTimeout(emptying)
    database?.close()
  },
}

serveThread(methods)
