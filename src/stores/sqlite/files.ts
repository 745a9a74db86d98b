import { AppError } from '../../errors.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { repack } from '../chunk-codec.ts'
import type { FileStore } from '../file-store.ts'
import { bytes, integer } from '../rows.ts'
import { openForReading } from './connection.ts'
import { toStoreError } from './error.ts'
import type { WriteQueue } from './write-queue.ts'

/** Large enough that the wait for the disk after each piece is short beside writing it. */
const PIECE_BYTES = 2 ** 20

/** What was read may wait to be collected for so long. */
const PIECES_BETWEEN_COLLECTIONS = 8

const CACHE_KIBIBYTES = 1_024

const FILE_OF = `
  SELECT files.number FROM documents JOIN files ON files.document = documents.number
  WHERE documents.id = ? AND files.revision = coalesce(?, served_revision, documents.revision)`
const PIECE = `
  SELECT bytes FROM files JOIN file_pieces ON file = number AND ordinal = ?
  WHERE number = ?`
const EXISTS = 'SELECT 1 FROM files WHERE number = ?'

export interface Files {
  store: FileStore
  close(): void
}

/**
 * The originals of documents in a database: written through the queue, read on a connection whose small
 * cache they cannot fill. `refuse` throws while nothing may be asked.
 */
export function createFiles(
  { write }: Pick<WriteQueue, 'write'>,
  databaseFile: string,
  refuse: () => void,
): Files {
  const database = openForReading(databaseFile, CACHE_KIBIBYTES)
  const selectFile = database.prepare(FILE_OF)
  const selectPiece = database.prepare(PIECE)
  const selectExists = database.prepare(EXISTS)

  const read = <T>(query: () => T): T => {
    refuse()
    try {
      return query()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  const dropFile: FileStore['dropFile'] = (number) => write({ name: 'dropFile', input: number })

  const addPieces = async (file: number, pieces: AsyncIterable<Uint8Array>) => {
    let size = 0
    let ordinal = 0
    for await (const piece of repack(pieces, PIECE_BYTES)) {
      size += piece.length
      await write(
        { name: 'addPiece', input: { file, ordinal: ordinal++, bytes: piece } },
        piece.length,
      )
    }
    return { number: file, size }
  }

  async function* piecesOf(file: number) {
    for (let ordinal = 0; ; ordinal++) {
      const row = read(() => selectPiece.get(ordinal, file))
      if (ordinal % PIECES_BETWEEN_COLLECTIONS === 0) freeYoungMemory()
      if (row) yield bytes(row, 'bytes')
      else if (read(() => selectExists.get(file))) return
      else throw new AppError('document_not_found', 'The file was replaced or deleted meanwhile')
    }
  }

  const store: FileStore = {
    dropFile,

    async keepFile(pieces) {
      const file = await write({ name: 'beginFile', input: undefined })
      try {
        return await addPieces(file, pieces)
      } catch (error) {
        // What cannot be dropped now is dropped by the next start.
        await dropFile(file).catch(() => undefined)
        throw error
      }
    },

    readStaged: piecesOf,

    async readFile(documentId, revision) {
      const row = read(() => selectFile.get(documentId, revision ?? null))
      return row && piecesOf(integer(row, 'number'))
    },
  }
  return { store, close: () => database.close() }
}
