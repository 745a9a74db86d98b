import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { decodeChunkCursor, encodeChunkCursor, unknownCursor } from '../cursor.ts'
import type { ChunkPage, DocumentStore, NewChunk, StoredChunk } from '../document-store.ts'
import { integer, optionalInteger, type Row, toChunk } from '../rows.ts'
import { toKeys } from './vectors.ts'

// As many as one read may bring without holding up the event loop for more than a few milliseconds.
const MAX_CHUNKS_PER_READ = 500

// CROSS JOIN keeps the order of the loops, and so the chunks in the order of the keys.
const CHUNKS = `
  SELECT chunks.key, chunks.revision, ordinal, start, end, heading, text, page, page_end,
    documents.id, title, url, metadata
  FROM json_each(?) AS wanted
  CROSS JOIN chunks ON chunks.key = wanted.value
  CROSS JOIN documents ON number = document`

// A document without chunks to show gives one row, with no key.
const CHUNKS_OF_DOCUMENT = `
  SELECT chunks.key, chunks.revision, ordinal, start, end, heading, text, page, page_end,
    documents.id, title, url, metadata, served_revision
  FROM documents
  LEFT JOIN chunks ON document = number AND chunks.revision = served_revision AND ordinal > ?
  WHERE documents.id = ? ORDER BY ordinal LIMIT ?`

// One JSON text is read several times faster than a row per key; the index spares reading past the texts.
const CHUNK_KEYS = 'SELECT json_group_array(key) AS keys FROM chunks INDEXED BY chunks_of_document'

const EVERY_ORDINAL = -1

/** What is asked of chunks. Each query is one statement, and so sees one moment. */
export function createChunkReads(
  database: DatabaseSync,
  read: <T>(query: () => T) => Promise<T>,
): Pick<DocumentStore, 'readChunks' | 'chunkKeys' | 'listChunks'> {
  const selectChunks = database.prepare(CHUNKS)
  const selectOfDocument = database.prepare(CHUNKS_OF_DOCUMENT)
  const selectKeys = database.prepare(CHUNK_KEYS)

  const chunks = (keys: readonly number[]) =>
    read(() => selectChunks.all(JSON.stringify(keys)).map(toChunk))

  return {
    async readChunks(keys) {
      if (keys.length <= MAX_CHUNKS_PER_READ) return chunks(keys)
      const found: StoredChunk[] = []
      for (let start = 0; start < keys.length; start += MAX_CHUNKS_PER_READ) {
        found.push(...(await chunks(keys.slice(start, start + MAX_CHUNKS_PER_READ))))
        await setImmediate()
      }
      return found
    },

    chunkKeys: () => read(() => toKeys(selectKeys.get())),

    listChunks: ({ documentId, limit, cursor }) =>
      read(() => {
        const after = cursor === undefined ? undefined : decodeChunkCursor(cursor)
        const length = Math.max(1, Math.min(limit, MAX_CHUNKS_PER_READ))
        const rows = selectOfDocument.all(after?.ordinal ?? EVERY_ORDINAL, documentId, length + 1)
        if (rows.length === 0) return undefined
        const revision = optionalInteger(rows[0], 'served_revision')
        if (after && after.revision !== revision) throw unknownCursor()
        return toPage(
          rows.filter(({ key }) => key !== null),
          length,
        )
      }),
  }
}

function toPage(rows: readonly Row[], length: number): ChunkPage {
  const shown = rows.slice(0, length)
  const nextCursor = rows.length > length ? cursorAfter(shown.at(-1)) : undefined
  return { chunks: shown.map(toChunk), nextCursor }
}

function cursorAfter(row: Row | undefined): string {
  return encodeChunkCursor({
    revision: integer(row, 'revision'),
    ordinal: integer(row, 'ordinal'),
  })
}

/** Adds a chunk to a document, by its number. */
export function insertChunk(
  sql: SQLTagStore,
  document: number,
  revision: number,
  chunk: NewChunk,
): void {
  const { key, ordinal, start, end, heading, text, page = null, pageEnd = null } = chunk
  sql.run`
    INSERT INTO chunks (key, document, revision, ordinal, start, end, heading, text, page, page_end)
    VALUES (${key}, ${document}, ${revision}, ${ordinal}, ${start}, ${end}, ${heading}, ${text},
      ${page}, ${pageEnd})`
}
