import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { repack } from '../chunk-codec.ts'
import type { FileStore } from '../file-store.ts'
import { bytes, integer } from '../rows.ts'

/** Large enough that the wait for the disk after each piece is short beside writing it. */
const PIECE_BYTES = 2 ** 20

/** What was read may wait to be collected for so long. */
const PIECES_BETWEEN_COLLECTIONS = 8

const FILE_OF = `
  SELECT files.number FROM documents JOIN files ON files.document = documents.number
  WHERE documents.id = ? AND files.revision = coalesce(?, served_revision, documents.revision)`
const PIECE = `
  SELECT bytes FROM files JOIN file_pieces ON file = number AND ordinal = ?
  WHERE number = ?`
const EXISTS = 'SELECT 1 FROM files WHERE number = ?'

/** What is written of a file, through the queue. */
interface Writer {
  beginFile(): Promise<number>
  addPiece(file: number, ordinal: number, bytes: Uint8Array): Promise<void>
  dropStaged(number: number): Promise<void>
}

/** The originals of documents. `read` runs a query on `database`, whose small cache they may fill. */
export function createFiles(
  database: DatabaseSync,
  read: <T>(query: () => T) => Promise<T>,
  { beginFile, addPiece, dropStaged }: Writer,
): FileStore {
  const selectFile = database.prepare(FILE_OF)
  const selectPiece = database.prepare(PIECE)
  const selectExists = database.prepare(EXISTS)

  const addPieces = async (file: number, pieces: AsyncIterable<Uint8Array>) => {
    let size = 0
    let ordinal = 0
    for await (const piece of repack(pieces, PIECE_BYTES)) {
      size += piece.length
      await addPiece(file, ordinal++, piece)
    }
    return { number: file, size }
  }

  async function* piecesOf(file: number) {
    for (let ordinal = 0; ; ordinal++) {
      const row = await read(() => selectPiece.get(ordinal, file))
      if (ordinal % PIECES_BETWEEN_COLLECTIONS === 0) freeYoungMemory()
      if (row) yield bytes(row, 'bytes')
      else if (await read(() => selectExists.get(file))) return
      else throw new AppError('document_not_found', 'The file was replaced or deleted meanwhile')
    }
  }

  return {
    dropStaged,

    async stageFile(pieces) {
      const file = await beginFile()
      try {
        return await addPieces(file, pieces)
      } catch (error) {
        // What cannot be dropped now is dropped by the next start.
        await dropStaged(file).catch(() => undefined)
        throw error
      }
    },

    readStaged: piecesOf,

    async readFile(documentId, revision) {
      const row = await read(() => selectFile.get(documentId, revision ?? null))
      return row && piecesOf(integer(row, 'number'))
    },
  }
}

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
