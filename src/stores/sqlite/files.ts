import type { SQLTagStore } from 'node:sqlite'
import { integer } from '../sql/rows.ts'

/** So many pieces fill the writer's cache with what nobody reads again soon. */
const PIECES_BETWEEN_SHRINKS = 4

/** How the bytes of a file come in. Each write runs inside a transaction of the caller's. */
export function createFileWrites(sql: SQLTagStore) {
  return {
    beginFile(): number {
      const row = sql.get`INSERT INTO files (document) VALUES (NULL) RETURNING number`
      return integer(row, 'number')
    },

    addPiece(file: number, ordinal: number, bytes: Uint8Array): void {
      sql.run`INSERT INTO file_pieces (file, ordinal, bytes) VALUES (${file}, ${ordinal}, ${bytes})`
      if (ordinal % PIECES_BETWEEN_SHRINKS === 0) sql.run`PRAGMA shrink_memory`
    },

    dropStaged(number: number): void {
      sql.run`DELETE FROM files WHERE number = ${number} AND document IS NULL`
    },
  }
}
