import { createHash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { freeYoungMemory } from '@agent-server/lib/processes/free-memory.ts'
import { isObject } from '@agent-server/lib/text/json.ts'
import { repack } from '../chunk-codec.ts'
import { DamagedFile, type FileStore } from '../file-store.ts'
import type { Clock } from './clock.ts'
import type { Dialect } from './dialect.ts'
import { bytes, integer, type Read, type Row, type Tx, type Value } from './query.ts'
import { visibleTo } from './visible.ts'

/** Large enough that waiting for the disk after each piece is short compared with writing it. */
const PIECE_BYTES = 2 ** 20

/** The digests that the document of a file has, of which its bytes must have one. */
const DIGESTS = `SELECT documents.file AS served, replacements.file AS next FROM files
  JOIN documents ON documents.number = files.document
  LEFT JOIN replacements ON replacements.document = files.document
  WHERE files.number = $1`

/**
 * Passes the bytes of a stored file on, and compares them with the digest that is kept. Throws `DamagedFile`
 * before the last piece of a file that has changed: whoever reads it must not take it for whole.
 */
export async function* checked(
  pieces: AsyncIterable<Uint8Array>,
  file: number,
  read: (statement: string, values: readonly Value[]) => Promise<Row[]>,
): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256')
  // Who knows the size takes a file for whole once the last piece has come.
  let last: Uint8Array | undefined
  for await (const piece of pieces) {
    digest.update(piece)
    if (last) yield last
    last = piece
  }
  const [row] = await read(DIGESTS, [file])
  const digests = row ? [row.served, row.next].flatMap(digestIn) : []
  if (digests.length > 0 && !digests.includes(digest.digest('hex'))) throw new DamagedFile(file)
  if (last) yield last
}

function digestIn(column: unknown): string[] {
  const file: unknown = typeof column === 'string' ? JSON.parse(column) : column
  return isObject(file) && typeof file.sha256 === 'string' ? [file.sha256] : []
}

/** Garbage is collected after this many pieces have been read. */
const PIECES_BETWEEN_COLLECTIONS = 8

interface FileWriter {
  beginFile(sender?: string): Promise<number>
  addPiece(file: number, ordinal: number, bytes: Uint8Array, sender?: string): Promise<void>
  dropStaged(number: number): Promise<void>
}

/** The original files of documents, and staged uploads. */
export function createFiles(
  read: Read,
  dialect: Dialect,
  { beginFile, addPiece, dropStaged }: FileWriter,
): Omit<FileStore, 'noteFile'> {
  // One row if the file exists, whether or not it has such a piece.
  const PIECE = `SELECT bytes FROM files
    LEFT JOIN file_pieces ON file = number AND ordinal = $2
    WHERE number = $1`

  const addPieces = async (file: number, pieces: AsyncIterable<Uint8Array>, sender?: string) => {
    let size = 0
    let ordinal = 0
    for await (const piece of repack(pieces, PIECE_BYTES)) {
      size += piece.length
      await addPiece(file, ordinal++, piece, sender)
    }
    return { number: file, size }
  }

  async function* piecesOf(file: number) {
    for (let ordinal = 0; ; ordinal++) {
      const [row] = await read(PIECE, [file, ordinal])
      if (ordinal % PIECES_BETWEEN_COLLECTIONS === 0) freeYoungMemory()
      if (!row) {
        throw new AppError('document_not_found', 'The file was replaced or deleted in the meantime')
      }
      if (row.bytes === null) return
      yield bytes(row, 'bytes')
    }
  }

  return {
    dropStaged,

    async stageFile(pieces, sender) {
      const file = await beginFile(sender)
      try {
        return await addPieces(file, pieces, sender)
      } catch (error) {
        await ignore(dropStaged(file), 'it is dropped later, as an upload that no document took')
        throw error
      }
    },

    readStaged: piecesOf,

    async readFile(visibility, documentId, revision) {
      const { sql, values, statement } = visibleTo(dialect, visibility, {
        values: [documentId, revision],
        testing: 'each',
      })
      const query = `SELECT files.number FROM documents
        JOIN files ON files.document = documents.number
        WHERE documents.id = $1 AND ${sql}
          AND files.revision = coalesce(CAST($2 AS integer), served_revision, documents.revision)`
      const [row] = await read(statement(query), values)
      if (!row) return undefined
      const number = integer(row, 'number')
      return checked(piecesOf(number), number, read)
    },
  }
}

const STORED_PIECE = 'SELECT bytes FROM file_pieces WHERE file = $1 AND ordinal = $2'

/** The pieces of a file that nobody removes meanwhile. */
export async function* storedPieces(all: Tx['all'], file: number): AsyncGenerator<Uint8Array> {
  for (let ordinal = 0; ; ordinal++) {
    const [row] = await all(STORED_PIECE, [file, ordinal])
    if (!row) return
    yield bytes(row, 'bytes')
  }
}

const TOUCH = 'UPDATE files SET touched_at = now_ms() WHERE number = $1'

/** Stores the bytes of files, and removes those of no document. */
export const FILE_WRITES = {
  async beginFile(tx: Tx, _sender?: string): Promise<number> {
    const row = await tx.one('INSERT INTO files (touched_at) VALUES (now_ms()) RETURNING number')
    return integer(row, 'number')
  },

  async addPiece(
    tx: Tx,
    file: number,
    ordinal: number,
    piece: Uint8Array,
    _sender?: string,
  ): Promise<void> {
    await Promise.all([
      tx.run(TOUCH, [file]),
      tx.run('INSERT INTO file_pieces (file, ordinal, bytes) VALUES ($1, $2, $3)', [
        file,
        ordinal,
        piece,
      ]),
    ])
  },

  /** Removes a file that no document has taken. */
  async dropStaged(tx: Tx, number: number): Promise<void> {
    await tx.run('DELETE FROM files WHERE number = $1 AND document IS NULL', [number])
  },
}

const DROP_FORGOTTEN = 'DELETE FROM files WHERE document IS NULL AND touched_at <= now_ms() - $1'

/** Removes uploads that were interrupted at least `milliseconds` ago. */
export const createForgottenFiles = (clock: Clock) => async (tx: Tx, milliseconds: number) => {
  if (await clock.isTrusted(tx)) await tx.run(DROP_FORGOTTEN, [milliseconds])
}
