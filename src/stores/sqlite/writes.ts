import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { type PackedError, packError } from '../../lib/processes/thread.ts'
import type { OutboxEvent } from '../outbox.ts'
import { integer, toOutboxEvent } from '../sql/rows.ts'
import { createTermWrites, createVectorWrites } from './chunks.ts'
import { directoryOf, LEFT_FREE_BYTES, requireRoom, withRoom } from './connection.ts'
import { createDocumentWrites, createFileWrites, createSourceWrites } from './documents.ts'
import { isStorageFull, toStoreError } from './error.ts'
import { createClaimWrites, createCompletionWrites } from './jobs.ts'

/** Everything that changes the database, by name. */
export function createWrites(database: DatabaseSync, queueLimit: number) {
  const sql = database.createTagStore()
  return {
    ...createClaimWrites(sql),
    ...createCompletionWrites(sql),
    ...createDocumentWrites(sql, queueLimit),
    ...createFileWrites(sql),
    ...createMetaWrites(sql),
    ...createOutboxWrites(sql),
    ...createSourceWrites(sql),
    ...createTermWrites(sql),
    ...createVectorWrites(sql),
  }
}

type Writes = ReturnType<typeof createWrites>
export type WriteName = keyof Writes
export type WriteInput<Name extends WriteName> = Parameters<Writes[Name]>
export type WriteOutput<Name extends WriteName> = ReturnType<Writes[Name]>

/** One change to be sent to the writer thread. */
export type Write<Name extends WriteName = WriteName> = {
  [Each in Name]: { name: Each; input: WriteInput<Each> }
}[Name]

export type Outcome = { output: unknown } | { error: PackedError }

/**
 * The disk space that these writes must leave free, in bytes. The log holds up to 16 MB and one group of writes, and
 * can only be merged into the database if that has room to grow by as much; otherwise nothing could be written or
 * deleted. Files leave more space, so that texts can still be stored.
 */
const LEFT_FREE: Partial<Record<WriteName, number>> = {
  addPiece: 48 * 2 ** 20,
  add: LEFT_FREE_BYTES,
  put: LEFT_FREE_BYTES,
}

/**
 * Runs a group of writes in one transaction, so that they share the wait for the disk; one that fails does not affect
 * the others. When the function returns, the successful ones are durable. Returns one outcome per write, in order.
 */
export function createGroupRunner(database: DatabaseSync, writes: Writes) {
  const sql = database.createTagStore()
  const directory = directoryOf(database)

  const runOne = (write: Write): Outcome => {
    sql.run`SAVEPOINT write`
    try {
      requireRoom(directory, LEFT_FREE[write.name] ?? 0)
      const output = runWrite(writes, write)
      sql.run`RELEASE write`
      return { output }
    } catch (error) {
      // On a full or failing disk, SQLite may roll back the whole transaction.
      const isRefused = error instanceof AppError
      if (!database.isTransaction || (!isRefused && isStorageFull(error))) throw error
      sql.run`ROLLBACK TO write`
      sql.run`RELEASE write`
      return failed(error)
    }
  }

  const runTogether = (group: readonly Write[]): Outcome[] => {
    sql.run`BEGIN IMMEDIATE`
    try {
      const outcomes = group.map(runOne)
      sql.run`COMMIT`
      return outcomes
    } catch (error) {
      if (database.isTransaction) sql.run`ROLLBACK`
      throw error
    }
  }

  const runAlone = (write: Write): Outcome => {
    try {
      const [outcome] = withRoom(database, () => runTogether([write]), false)
      return outcome ?? failed(new TypeError('A write has no outcome'))
    } catch (error) {
      return failed(error)
    }
  }

  return function run(group: readonly Write[]): Outcome[] {
    try {
      return withRoom(database, () => runTogether(group))
    } catch (error) {
      // A write that does not fit on the disk must not prevent those that do, such as deletions.
      if (isStorageFull(error)) return group.map(runAlone)
      return group.map(() => failed(error))
    }
  }
}

function runWrite<Name extends WriteName>(
  writes: { [Each in WriteName]: (...input: WriteInput<Each>) => WriteOutput<Each> },
  { name, input }: Write<Name>,
): WriteOutput<Name> {
  return writes[name](...input)
}

function failed(thrown: unknown): Outcome {
  return { error: packError(toStoreError(thrown)) }
}

const MAX_CHUNK_KEY = 2 ** 32 - 1

/** The store's own metadata. Each write runs within the caller's transaction. */
function createMetaWrites(sql: SQLTagStore) {
  return {
    /** Reserves `count` keys that nobody else ever gets, and returns the first. */
    reserveChunkKeys(count: number): number {
      const row = sql.get`
        UPDATE meta SET value = value + ${count} WHERE name = 'next_chunk_key' RETURNING value`
      const next = integer(row, 'value')
      if (next - 1 <= MAX_CHUNK_KEY) return next - count
      throw new AppError('storage_full', 'The document store has used up its chunk keys')
    },

    /** Returns a number that is new with each check and can be read back once committed. */
    check(): number {
      const row = sql.get`UPDATE meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`
      return integer(row, 'value')
    },
  }
}

/** The events of the outbox, which a trigger records. Each write runs within the caller's transaction. */
function createOutboxWrites(sql: SQLTagStore) {
  return {
    enable(isEnabled: boolean): void {
      sql.run`UPDATE meta SET value = ${isEnabled ? 1 : 0} WHERE name = 'announcing'`
      if (!isEnabled) sql.run`DELETE FROM announcements`
    },

    takeEvents(limit: number, milliseconds: number): OutboxEvent[] {
      const now = Date.now()
      const due = sql.all`
        SELECT announcements.*, documents.id AS document_id
        FROM announcements JOIN documents ON number = document
        WHERE due_at <= ${now} ORDER BY due_at LIMIT ${Math.max(0, limit)}`
      for (const row of due) {
        sql.run`
          UPDATE announcements SET attempts = attempts + 1, due_at = ${now + milliseconds}
          WHERE document = ${integer(row, 'document')}`
      }
      return due.map((row) => toOutboxEvent({ ...row, attempts: integer(row, 'attempts') + 1 }))
    },

    postponeEvent(id: string, dueAt: number): void {
      sql.run`UPDATE announcements SET due_at = ${dueAt} WHERE id = ${id}`
    },

    removeEvent(id: string): void {
      sql.run`DELETE FROM announcements WHERE id = ${id}`
    },
  }
}
