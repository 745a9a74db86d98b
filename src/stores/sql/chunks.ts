import { setImmediate } from 'node:timers/promises'
import type { ChunkPage, DocumentStore, StoredChunk } from '../document-store.ts'
import type { VectorReplacement } from '../opened-store.ts'
import { type TermCountStore, unpackTerms } from '../term-counts.ts'
import { decodeChunkCursor, encodeChunkCursor, unknownCursor } from './cursor.ts'
import type { Read, SqlDialect } from './query.ts'
import {
  bytes,
  integer,
  optionalInteger,
  type Row,
  text,
  toChunk,
  toEmbedding,
  toVectors,
} from './rows.ts'

// As many as one read may return without blocking the event loop for more than a few milliseconds.
const MAX_CHUNKS_PER_READ = 500
const EVERY_ORDINAL = -1
const REPLACEMENT_MS = 60_000

/** The columns that `toChunk` reads. */
const COLUMNS = `chunks.key, chunks.revision, ordinal, start, "end", heading, text, page, page_end,
  documents.id, title, url, metadata`

/** Queries for chunks. Each is a single statement, and so sees a consistent state. */
export function createChunkReads(
  read: Read,
  { schema, isInFirst }: SqlDialect,
): Pick<DocumentStore, 'readChunks' | 'listChunks'> {
  const CHUNKS = `SELECT ${COLUMNS} FROM ${schema}.chunks JOIN ${schema}.documents ON number = document
    WHERE chunks.key ${isInFirst}`
  // A document without chunks to show yields one row, without a key.
  const CHUNKS_OF_DOCUMENT = `SELECT ${COLUMNS}, served_revision
    FROM ${schema}.documents LEFT JOIN ${schema}.chunks
      ON document = number AND chunks.revision = served_revision AND ordinal > $1
    WHERE documents.id = $2 ORDER BY ordinal LIMIT $3`

  return {
    async readChunks(keys) {
      const found = new Map<number, StoredChunk>()
      for (let start = 0; start < keys.length; start += MAX_CHUNKS_PER_READ) {
        if (start > 0) await setImmediate()
        const rows = await read(CHUNKS, [keys.slice(start, start + MAX_CHUNKS_PER_READ)])
        for (const chunk of rows.map(toChunk)) found.set(chunk.key, chunk)
      }
      return keys.flatMap((key) => found.get(key) ?? [])
    },

    async listChunks({ documentId, limit, cursor }) {
      const after = cursor === undefined ? undefined : decodeChunkCursor(cursor)
      const length = Math.max(1, Math.min(limit, MAX_CHUNKS_PER_READ))
      const values = [after?.ordinal ?? EVERY_ORDINAL, documentId, length + 1]
      const rows = await read(CHUNKS_OF_DOCUMENT, values)
      if (rows.length === 0) return undefined
      const revision = optionalInteger(rows[0], 'served_revision')
      if (after && after.revision !== revision) throw unknownCursor()
      const chunks = rows.filter(({ key }) => key !== null)
      return toPage(chunks, length)
    },
  }
}

function toPage(rows: readonly Row[], length: number): ChunkPage {
  const chunks = rows.slice(0, length).map(toChunk)
  const last = rows.length > length ? rows[length - 1] : undefined
  const place = last && {
    revision: integer(last, 'revision'),
    ordinal: integer(last, 'ordinal'),
  }
  return { chunks, nextCursor: place && encodeChunkCursor(place) }
}

/** Queries for vectors, and for those of a replacement. */
export function createVectorReads(
  read: Read,
  { schema, isInFirst }: SqlDialect,
): Pick<DocumentStore, 'embedding' | 'vectorsGeneration' | 'readVectors' | 'countWithoutVector'> &
  Pick<VectorReplacement, 'begun' | 'chunksWithout'> {
  const EMBEDDING = `SELECT model, dimension FROM ${schema}.embeddings WHERE vectors = 'current'`
  const GENERATION = `SELECT value FROM ${schema}.meta WHERE name = 'vectors_generation'`
  const VECTORS = `SELECT key, vector FROM ${schema}.vectors WHERE key ${isInFirst} ORDER BY key`
  const WITHOUT_VECTOR = `SELECT count(*) AS n FROM ${schema}.documents JOIN ${schema}.chunks ON document = number
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM ${schema}.vectors WHERE vectors.key = chunks.key)`
  const BEGUN = `SELECT model, dimension, (SELECT count(*) FROM ${schema}.next_vectors) AS vectors
    FROM ${schema}.embeddings WHERE vectors = 'next'`
  const CHUNKS_WITHOUT = `SELECT ${COLUMNS} FROM ${schema}.chunks JOIN ${schema}.documents ON number = document
    WHERE chunks.key > $1
      AND NOT EXISTS (SELECT 1 FROM ${schema}.next_vectors WHERE next_vectors.key = chunks.key)
    ORDER BY chunks.key LIMIT $2`

  return {
    embedding: async () => toEmbedding((await read(EMBEDDING))[0]),
    vectorsGeneration: async () => integer((await read(GENERATION))[0], 'value'),
    readVectors: async (keys) => toVectors(await read(VECTORS, [keys])),
    countWithoutVector: async (id) => integer((await read(WITHOUT_VECTOR, [id]))[0], 'n'),
    async begun() {
      const [row] = await read(BEGUN, [], REPLACEMENT_MS)
      const embedding = toEmbedding(row)
      return embedding && { ...embedding, vectors: integer(row, 'vectors') }
    },
    async chunksWithout(key, limit) {
      return (await read(CHUNKS_WITHOUT, [key, limit], REPLACEMENT_MS)).map(toChunk)
    },
  }
}

/** All served documents may have to be scanned. */
const LOOKING_MS = 60_000

/** Queries for term counts. */
export function createTermReads(
  read: Read,
  { schema, isInFirst }: SqlDialect,
): Pick<TermCountStore, 'entries' | 'readEntries' | 'uncounted'> {
  const ENTRIES = `SELECT number FROM ${schema}.term_entries WHERE analyser = $1`
  const READ = `SELECT number, sign, chunks, length, terms, holding FROM ${schema}.term_entries
    WHERE number ${isInFirst}`
  const UNCOUNTED = `SELECT number, id, served_revision FROM ${schema}.documents
    WHERE number > $2 AND served_revision IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM ${schema}.document_terms WHERE document = number AND analyser = $1)
    ORDER BY number LIMIT $3`

  return {
    async entries(analyser) {
      return (await read(ENTRIES, [analyser])).map((row) => integer(row, 'number'))
    },
    async readEntries(numbers) {
      return (await read(READ, [numbers], LOOKING_MS)).map((row) => {
        const sign = integer(row, 'sign')
        return {
          number: integer(row, 'number'),
          chunks: sign * integer(row, 'chunks'),
          length: sign * integer(row, 'length'),
          ...unpackTerms(bytes(row, 'terms'), bytes(row, 'holding'), sign),
        }
      })
    },
    async uncounted(analyser, after, limit) {
      return (await read(UNCOUNTED, [analyser, after, limit], LOOKING_MS)).map((row) => ({
        number: integer(row, 'number'),
        id: text(row, 'id'),
        revision: integer(row, 'served_revision'),
      }))
    },
  }
}
