import { untilAborted } from '../../lib/abort.ts'
import { decodeChunkCursor, encodeChunkCursor, unknownCursor } from '../cursor.ts'
import type { ChunkPage, DocumentStore, NewChunk, StoredChunk } from '../document-store.ts'
import { bytes, integer, optionalInteger, type Row, toChunk } from '../rows.ts'
import type { Value } from './codec.ts'
import type { Database, Query } from './database.ts'
import { toCondition } from './filter-sql.ts'

/** As many as one read may bring without holding up the event loop for more than a few milliseconds. */
const MAX_CHUNKS_PER_READ = 500
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
export function createChunkReads(database: Database): ChunkReads {
  return {
    async readChunks(keys) {
      const found: StoredChunk[] = []
      for (let start = 0; start < keys.length; start += MAX_CHUNKS_PER_READ) {
        const rows = await database.read(CHUNKS, [keys.slice(start, start + MAX_CHUNKS_PER_READ)])
        found.push(...rows.map(toChunk))
      }
      return found
    },

    chunkKeys: () => readAllKeys(database, 'chunks'),

    async listChunks({ documentId, limit, cursor }) {
      const after = cursor === undefined ? undefined : decodeChunkCursor(cursor)
      const length = Math.max(1, Math.min(limit, MAX_CHUNKS_PER_READ))
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
  const last = shown.at(-1)
  const isMore = rows.length > length && last
  const place = isMore && { revision: integer(last, 'revision'), ordinal: integer(last, 'ordinal') }
  return { chunks: shown.map(toChunk), nextCursor: place ? encodeChunkCursor(place) : undefined }
}

/** Chunks as one array per column, which `unnest` makes rows of again. */
export function chunkColumns(chunks: readonly NewChunk[]) {
  return [
    chunks.map(({ key }) => key),
    chunks.map(({ ordinal }) => ordinal),
    chunks.map(({ start }) => start),
    chunks.map(({ end }) => end),
    chunks.map(({ heading }) => heading),
    chunks.map(({ text }) => text),
    chunks.map(({ page }) => page ?? null),
    chunks.map(({ pageEnd }) => pageEnd ?? null),
  ]
}

/** Keys have 32 bits without a sign, PostgreSQL's integers one. */
const OFFSET = 2 ** 31
const KEY_BYTES = 4
/** Keys of one statement: the answer to it is held whole, and takes some seconds at most. */
const KEYS_PER_PAGE = 2_000_000
const MILLISECONDS = 60_000

/** An aggregate that answers many keys as bytes, several times faster than as rows. */
const PACKED_KEYS = `string_agg(int4send((key - ${OFFSET})::integer), '' ORDER BY key) AS packed`

/** Runs a query whose one row is `PACKED_KEYS`. */
async function readKeys(database: Database, query: Query, values: readonly Value[] = []) {
  const [row] = await database.read({ milliseconds: MILLISECONDS, ...query }, values)
  if (row?.packed === null) return new Uint32Array()
  const packed = bytes(row, 'packed')
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const keyAt = (_: unknown, place: number) => view.getInt32(place * KEY_BYTES) + OFFSET
  return Uint32Array.from({ length: packed.byteLength / KEY_BYTES }, keyAt)
}

/** Every key of a table, ascending, in as many statements as it takes. */
export async function readAllKeys(
  database: Database,
  table: 'chunks' | 'vectors',
): Promise<Uint32Array<ArrayBuffer>> {
  const query: Query = {
    name: `keys_of_${table}`,
    text: `SELECT ${PACKED_KEYS} FROM (
      SELECT key FROM agent_server.${table} WHERE key > $1 ORDER BY key LIMIT $2) AS page`,
  }
  const pages: Uint32Array<ArrayBuffer>[] = []
  for (let last = 0; ; ) {
    const page = await readKeys(database, query, [last, KEYS_PER_PAGE])
    pages.push(page)
    if (page.length < KEYS_PER_PAGE) return join(pages)
    last = page.at(-1) ?? last
  }
}

function join(pages: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(pages.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  for (const page of pages) {
    all.set(page, filled)
    filled += page.length
  }
  return all
}
