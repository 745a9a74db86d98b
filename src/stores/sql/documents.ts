import { AppError } from '../../errors.ts'
import { freeYoungMemory } from '../../lib/processes/free-memory.ts'
import { repack } from '../chunk-codec.ts'
import type { DocumentStore } from '../document-store.ts'
import type { FileStore } from '../file-store.ts'
import type { Read, SqlDialect } from './query.ts'
import { bytes, integer, toDocument } from './rows.ts'

type DocumentReads = Pick<DocumentStore, 'get' | 'hasKey' | 'identity' | 'counts'>

/** Queries for documents. Each is a single statement, and so sees a consistent state. */
export function createDocumentReads(read: Read, { schema, counts }: SqlDialect): DocumentReads {
  const DOCUMENT = `SELECT documents.*, source FROM ${schema}.documents
    LEFT JOIN ${schema}.sources ON document = number WHERE id = $1`
  const KEY = `SELECT 1 AS one FROM ${schema}.idempotency_keys WHERE key = $1`
  const IDENTITY = `SELECT value FROM ${schema}.meta WHERE name = 'identity'`

  return {
    async get(id) {
      const [row] = await read(DOCUMENT, [id])
      return row && toDocument(row)
    },

    hasKey: async (key) => (await read(KEY, [key])).length > 0,

    identity: async () => String(integer((await read(IDENTITY))[0], 'value')),

    async counts() {
      const [row] = await read(counts)
      const count = (name: string) => integer(row, name)
      return {
        documents: {
          pending: count('pending'),
          processing: count('processing'),
          ready: count('ready'),
          failed: count('failed'),
        },
        chunks: count('chunks'),
        jobs: count('jobs'),
      }
    },
  }
}

/** Large enough that waiting for the disk after each piece is short compared with writing it. */
const PIECE_BYTES = 2 ** 20

/** Garbage is collected after this many pieces have been read. */
const PIECES_BETWEEN_COLLECTIONS = 8

interface FileWriter {
  beginFile(): Promise<number>
  addPiece(file: number, ordinal: number, bytes: Uint8Array): Promise<void>
  dropStaged(number: number): Promise<void>
}

/** The original files of documents, and staged uploads. */
export function createFiles(
  read: Read,
  { schema }: SqlDialect,
  { beginFile, addPiece, dropStaged }: FileWriter,
): Omit<FileStore, 'noteFile'> {
  const FILE_OF = `SELECT files.number FROM ${schema}.documents
    JOIN ${schema}.files ON files.document = documents.number
    WHERE documents.id = $1
      AND files.revision = coalesce(CAST($2 AS integer), served_revision, documents.revision)`
  // One row if the file exists, whether or not it has such a piece.
  const PIECE = `SELECT bytes FROM ${schema}.files
    LEFT JOIN ${schema}.file_pieces ON file = number AND ordinal = $2
    WHERE number = $1`

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
      const [row] = await read(PIECE, [file, ordinal])
      if (ordinal % PIECES_BETWEEN_COLLECTIONS === 0) freeYoungMemory()
      if (!row) {
        throw new AppError('document_not_found', 'The file was replaced or deleted meanwhile')
      }
      if (row.bytes === null) return
      yield bytes(row, 'bytes')
    }
  }

  return {
    dropStaged,

    async stageFile(pieces) {
      const file = await beginFile()
      try {
        return await addPieces(file, pieces)
      } catch (error) {
        // If it cannot be dropped now, it is dropped later, as an upload that no document took.
        await dropStaged(file).catch(() => undefined)
        throw error
      }
    },

    readStaged: piecesOf,

    async readFile(documentId, revision) {
      const [row] = await read(FILE_OF, [documentId, revision])
      return row && piecesOf(integer(row, 'number'))
    },
  }
}
