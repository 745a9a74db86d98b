import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { integer } from '../rows.ts'
import { createDocumentWrites } from './documents.ts'
import { createFileWrites } from './file-writes.ts'
import { createClaimWrites, createCompletionWrites, createOutcomeWrites } from './jobs.ts'
import { createOutboxWrites } from './outbox-writes.ts'
import { createVectorWrites } from './vector-writes.ts'

/** Everything that changes the database, by name. */
export type Writes = ReturnType<typeof createWrites>
export type WriteName = keyof Writes
type WriteInput = { [Name in WriteName]: Parameters<Writes[Name]>[0] }
export type WriteOutput = { [Name in WriteName]: ReturnType<Writes[Name]> }

/** One change on its way to the writer's thread. */
export type Write<Name extends WriteName = WriteName> = {
  [Each in Name]: { name: Each; input: WriteInput[Each] }
}[Name]

export function createWrites(database: DatabaseSync, queueLimit: number) {
  const sql = database.createTagStore()
  return {
    ...createDocumentWrites(sql, queueLimit),
    ...createFileWrites(sql),
    ...createClaimWrites(sql),
    ...createCompletionWrites(database, sql),
    ...createOutcomeWrites(sql),
    ...createMetaWrites(sql),
    ...createOutboxWrites(sql),
    ...createVectorWrites(sql),
  }
}

export function runWrite<Name extends WriteName>(
  writes: { [Each in WriteName]: (input: WriteInput[Each]) => WriteOutput[Each] },
  write: Write<Name>,
): WriteOutput[Name] {
  return writes[write.name](write.input)
}

const LARGEST_CHUNK_KEY = 2 ** 32 - 1

/** What the store keeps for itself. Each write runs inside a transaction of the caller's. */
function createMetaWrites(sql: SQLTagStore) {
  return {
    /** Answers the first of `count` keys that nobody else ever gets. */
    reserveChunkKeys(count: number): number {
      const row = sql.get`
        UPDATE meta SET value = value + ${count} WHERE name = 'next_chunk_key' RETURNING value`
      const next = integer(row, 'value')
      if (next - 1 <= LARGEST_CHUNK_KEY) return next - count
      throw new AppError('storage_full', 'The document store has used up its chunk keys')
    },

    /** Answers a number that no check had before, and that can now be read back. */
    check(): number {
      const row = sql.get`UPDATE meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`
      return integer(row, 'value')
    },
  }
}
