import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { serveThread } from '../../lib/processes/thread.ts'
import { emptyLog, openForWriting, withRoom } from './connection.ts'
import { toStoreError } from './error.ts'
import { type Migration, migrate } from './migrate.ts'
import { createGroupRunner, createWrites, type Outcome, type Write } from './writes.ts'

interface WriterOptions {
  file: string
  /** The most documents that may wait for ingestion or be in it. */
  queueLimit: number
}

export type WriterMethods = typeof methods

let database: DatabaseSync | undefined
let runGroup: ReturnType<typeof createGroupRunner> | undefined
/** Set while the log may hold what was deleted. */
let emptying: NodeJS.Timeout | undefined

/** Without a write for so long, the log is emptied. */
const QUIET_MS = 1_000

function emptyLogWhenQuiet(): void {
  clearTimeout(emptying)
  emptying = setTimeout(() => {
    try {
      if (database && !emptyLog(database)) emptyLogWhenQuiet()
    } catch (error) {
      // The disk is full or away: the next write will say so, and the log is tried again later.
      if (toStoreError(error) instanceof AppError) emptyLogWhenQuiet()
      else throw error
    }
  }, QUIET_MS).unref()
}

const methods = {
  open({ file, queueLimit }: WriterOptions): Migration {
    try {
      database = openForWriting(file)
      const migration = migrate(database)
      // Files that were being sent when an earlier process ended; nobody sends any yet.
      const opened = database
      withRoom(opened, () => opened.exec('DELETE FROM files WHERE document IS NULL'))
      runGroup = createGroupRunner(database, createWrites(database, queueLimit))
      return migration
    } catch (thrown) {
      const error = toStoreError(thrown)
      if (!(error instanceof AppError)) throw error
      throw new AppError(error.code, `Cannot open ${file}: ${error.message}`)
    }
  },

  write(group: readonly Write[]): Outcome[] {
    if (!runGroup) throw new Error('The writer is not open')
    emptyLogWhenQuiet()
    return runGroup(group)
  },

  /** Moves what the log holds into the database, which the last connection does as it closes. */
  close(): void {
    clearTimeout(emptying)
    database?.close()
  },
}

serveThread(methods)
