import type { Query } from '../sql/query.ts'
import { integer } from '../sql/rows.ts'
import type { Database } from './database.ts'

/** A file that no document has taken is given up so long after its last piece came. */
const FORGOTTEN_MS = 24 * 3_600_000

const BEGIN: Query = {
  name: 'begin_file',
  text: `INSERT INTO agent_server.files (touched_at) VALUES (agent_server.now_ms()) RETURNING number`,
}
const ADD_PIECE: Query = {
  name: 'add_piece',
  text: `WITH touched AS (UPDATE agent_server.files SET touched_at = agent_server.now_ms() WHERE number = $1)
    INSERT INTO agent_server.file_pieces (file, ordinal, bytes) VALUES ($1, $2, $3)`,
}
const DROP: Query = {
  name: 'drop_file',
  text: 'DELETE FROM agent_server.files WHERE number = $1 AND document IS NULL',
}
const DROP_FORGOTTEN: Query = {
  text: `DELETE FROM agent_server.files
    WHERE document IS NULL AND touched_at < agent_server.now_ms() - $1`,
}
/** How the bytes of a file come in. */
export function createFileWrites(database: Database) {
  return {
    async beginFile() {
      const [row] = await database.write(BEGIN)
      return integer(row, 'number')
    },
    async addPiece(file: number, ordinal: number, bytes: Uint8Array) {
      await database.write(ADD_PIECE, [file, ordinal, bytes])
    },
    async dropStaged(number: number) {
      await database.write(DROP, [number])
    },
    /** Removes what was being sent when a server ended. */
    async dropForgotten() {
      await database.write(DROP_FORGOTTEN, [FORGOTTEN_MS])
    },
  }
}
