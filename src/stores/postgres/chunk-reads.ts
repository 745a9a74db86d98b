import { untilAborted } from '../../lib/until-aborted.ts'
import { integer, optionalInteger, type Row } from '../columns.ts'
import type { ChunkPage, DocumentStore, StoredChunk } from '../document-store.ts'
import { decodeChunkCursor, encodeChunkCursor, unknownCursor } from '../list-cursor.ts'
import { toChunk } from '../rows.ts'
import type { Database, Query } from './database.ts'
import { toCondition } from './filter-sql.ts'
import { PACKED_KEYS, readAllKeys, readKeys } from './key-lists.ts'

/** As many as one read may bring without holding up the event loop for more than a few milliseconds. */
const MOST_CHUNKS_PER_READ = 500
const EVERY_ORDINAL = -1

/** What `toChunk` reads of `chunks` and `documents`. */
export const CHUNK_COLUMNS = `chunks.key, chunks.revision, ordinal, start, "end", heading, text,
  page, page_end, documents.id, title, url, metadata`

const CHUNKS: Query = {
  name: 'chunks',
  text: `SELECT ${CHUNK_COLUMNS}
    FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (key, place)
    JOIN agent_server.chunks ON chunks.key = wanted.key
    JOIN agent_server.documents ON number = document
    ORDER BY place`,
}

// A document without chunks to show gives one row, with no key.
const CHUNKS_OF_DOCUMENT: Query = {
  name: 'chunks_of_document',
  text: `SELECT ${CHUNK_COLUMNS}, served_revision
    FROM agent_server.documents
    LEFT JOIN agent_server.chunks
      ON document = number AND chunks.revision = served_revision AND ordinal > $1
    WHERE documents.id = $2 ORDER BY ordinal LIMIT $3`,
}

type ChunkReads = Pick<DocumentStore, 'readChunks' | 'chunkKeys' | 'listChunks' | 'matchingKeys'>

/** What is asked of chunks. */
export function createChunkReads(database: Pick<Database, 'read'>): ChunkReads {
  return {
    async readChunks(keys) {
      const found: StoredChunk[] = []
      for (let start = 0; start < keys.length; start += MOST_CHUNKS_PER_READ) {
        const rows = await database.read(CHUNKS, [keys.slice(start, start + MOST_CHUNKS_PER_READ)])
        found.push(...rows.map(toChunk))
      }
      return found
    },

    chunkKeys: () => readAllKeys(database, 'chunks'),

    async listChunks({ documentId, limit, cursor }) {
      const after = cursor === undefined ? undefined : decodeChunkCursor(cursor)
      const length = Math.max(1, Math.min(limit, MOST_CHUNKS_PER_READ))
      const values = [after?.ordinal ?? EVERY_ORDINAL, documentId, length + 1]
      const rows = await database.read(CHUNKS_OF_DOCUMENT, values)
      if (rows.length === 0) return undefined
      const revision = optionalInteger(rows[0], 'served_revision')
      if (after && after.revision !== revision) throw unknownCursor()
      const chunks = rows.filter(({ key }) => key !== null)
      return toPage(chunks, length)
    },

    async matchingKeys(filter, signal) {
      signal?.throwIfAborted()
      const { sql, values } = toCondition(filter)
      const text = `SELECT ${PACKED_KEYS} FROM agent_server.chunks
        WHERE document IN (SELECT number FROM agent_server.documents WHERE ${sql})`
      const reading = readKeys(database, { text }, values)
      return signal ? untilAborted(reading, signal) : reading
    },
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
