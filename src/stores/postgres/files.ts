import { AppError } from '../../errors.ts'
import { repack } from '../chunk-codec.ts'
import type { FileStore } from '../file-store.ts'
import { bytes, integer } from '../rows.ts'
import type { Database, Query } from './database.ts'

const PIECE_BYTES = 2 ** 20
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
const FILE_OF: Query = {
  name: 'file_of',
  text: `SELECT files.number
    FROM agent_server.documents JOIN agent_server.files ON files.document = documents.number
    WHERE documents.id = $1
      AND files.revision = coalesce($2::integer, served_revision, documents.revision)`,
}
// One row where there is the file, whether or not it has such a piece.
const PIECE: Query = {
  name: 'piece',
  text: `SELECT bytes FROM agent_server.files
    LEFT JOIN agent_server.file_pieces ON file = number AND ordinal = $2
    WHERE number = $1`,
}

/** The originals of documents. */
export function createFiles(database: Database): FileStore & {
  /** Removes what was being sent when a server ended. */
  dropForgotten(): Promise<void>
} {
  const dropStaged = async (number: number) => {
    await database.write(DROP, [number])
  }

  const addPieces = async (file: number, pieces: AsyncIterable<Uint8Array>) => {
    let size = 0
    let ordinal = 0
    for await (const piece of repack(pieces, PIECE_BYTES)) {
      size += piece.length
      await database.write(ADD_PIECE, [file, ordinal++, piece])
    }
    return { number: file, size }
  }

  async function* piecesOf(file: number) {
    for (let ordinal = 0; ; ordinal++) {
      const [row] = await database.read(PIECE, [file, ordinal])
      if (!row) {
        throw new AppError('document_not_found', 'The file was replaced or deleted meanwhile')
      }
      if (row.bytes === null) return
      yield bytes(row, 'bytes')
    }
  }

  return {
    dropStaged,

    async dropForgotten() {
      await database.write(DROP_FORGOTTEN, [FORGOTTEN_MS])
    },

    async stageFile(pieces) {
      const [row] = await database.write(BEGIN)
      const file = integer(row, 'number')
      try {
        return await addPieces(file, pieces)
      } catch (error) {
        // What cannot be dropped now is dropped when it has been forgotten.
        await dropStaged(file).catch(() => undefined)
        throw error
      }
    },

    readStaged: piecesOf,

    async readFile(documentId, revision) {
      const [row] = await database.read(FILE_OF, [documentId, revision])
      return row && piecesOf(integer(row, 'number'))
    },
  }
}
