import type { SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { integer } from '../columns.ts'

const LARGEST_CHUNK_KEY = 2 ** 32 - 1

/** What the store keeps for itself. Each write runs inside a transaction of the caller's. */
export function createMetaWrites(sql: SQLTagStore) {
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
