import { setImmediate } from 'node:timers/promises'
import { batched } from '@agent-server/lib/batches.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { dimensionOf, fromHalfFloats } from '../chunk-codec.ts'
import type {
  ChunkPage,
  DocumentStore,
  EmbeddingModel,
  KeyedVectors,
  NewChunk,
  StoredChunk,
} from '../document-store.ts'
import type { VectorReplacement } from '../opened-store.ts'
import { CONTENT_NAMES, toContent } from './columns.ts'
import { decodeCursor, encodeCursor, isInteger, unknownCursor } from './cursor.ts'
import type { Dialect } from './dialect.ts'
import {
  bytes,
  Conflict,
  integer,
  optionalInteger,
  optionalText,
  type Read,
  type Row,
  type Tx,
  text,
} from './query.ts'
import { visibleTo } from './visible.ts'

// As many as one read may return without blocking the event loop for more than a few milliseconds.
const MAX_CHUNKS_PER_READ = 500
const EVERY_ORDINAL = -1
const CHUNK_LIST = 'chunks'
const REPLACEMENT_MS = 60_000

/** The columns that `toChunk` reads. */
const COLUMNS = `chunks.key, chunks.revision, ordinal, start, "end", heading, text, page, page_end,
  (SELECT context FROM chunk_contexts WHERE chunk_contexts.key = chunks.key) AS context,
  documents.id, conversation, creator, ${CONTENT_NAMES.join(', ')}`

/** Queries for chunks. Each is a single statement, and so sees a consistent state. */
export function createChunkReads(
  read: Read,
  dialect: Dialect,
): Pick<DocumentStore, 'readChunks' | 'listChunks'> {
  return {
    async readChunks(visibility, keys) {
      const chunks = new Map<number, StoredChunk | undefined>()
      for (const batch of batched(keys, MAX_CHUNKS_PER_READ)) {
        if (chunks.size > 0) await setImmediate()
        const { sql, values, statement } = visibleTo(dialect, visibility, {
          values: [batch],
          testing: 'each',
        })
        const query = `SELECT ${COLUMNS}, (${sql}) AS is_visible
          FROM chunks JOIN documents ON number = document WHERE chunks.key ${dialect.isIn('$1')}`
        for (const row of await read(statement(query), values)) {
          chunks.set(integer(row, 'key'), row.is_visible ? toChunk(row) : undefined)
        }
      }
      return {
        chunks: keys.flatMap((key) => chunks.get(key) ?? []),
        missing: keys.filter((key) => !chunks.has(key)),
      }
    },

    async listChunks(visibility, { documentId, limit, cursor }) {
      const after = cursor === undefined ? undefined : decodeCursor(CHUNK_LIST, cursor, isInteger)
      const length = Math.max(1, Math.min(limit, MAX_CHUNKS_PER_READ))
      const { sql, values, statement } = visibleTo(dialect, visibility, {
        values: [after?.number ?? EVERY_ORDINAL, documentId, length + 1],
        testing: 'each',
      })
      // A document without chunks to show yields one row, without a key.
      const query = `SELECT ${COLUMNS}, served_revision
        FROM documents LEFT JOIN chunks
          ON document = number AND chunks.revision = served_revision AND ordinal > $1
        WHERE documents.id = $2 AND ${sql} ORDER BY ordinal LIMIT $3`
      const rows = await read(statement(query), values)
      if (rows.length === 0) return undefined
      const revision = optionalInteger(rows[0], 'served_revision')
      if (after && after.key !== revision) throw unknownCursor()
      const chunks = rows.filter(({ key }) => key !== null)
      return toPage(chunks, length)
    },
  }
}

/** For a few million keys. */
const KEYS_MS = 60_000
/** The most keys per statement: its result is held in memory, and takes a few seconds at most. */
const KEYS_PER_PAGE = 2_000_000
/** One text is read several times faster than a row for each key. */
const LISTED = `string_agg(CAST(key AS text), ',') AS keys`

/** All keys of a table, ascending. */
export async function readAllKeys(
  read: Read,
  dialect: Dialect,
  table: keyof Dialect['keysOf'],
): Promise<Uint32Array> {
  const page = `SELECT ${LISTED} FROM (
    SELECT key FROM ${dialect.keysOf[table]} WHERE key > $1 ORDER BY key LIMIT $2) AS page`
  const parts: Uint32Array[] = []
  for (let last = 0; ; ) {
    const keys = toKeys(await read(page, [last, KEYS_PER_PAGE], KEYS_MS))
    parts.push(keys)
    if (keys.length < KEYS_PER_PAGE) break
    last = keys.at(-1) ?? last
  }
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  for (const keys of parts) {
    all.set(keys, filled)
    filled += keys.length
  }
  return all
}

/** The keys of the chunks whose documents are visible, ascending. */
export async function readVisibleKeys(
  read: Read,
  dialect: Dialect,
  visibility: Visibility,
): Promise<Uint32Array> {
  const { sql, values } = visibleTo(dialect, visibility)
  const unprepared = `SELECT ${LISTED} FROM ${dialect.keysOf.chunks}
    WHERE document IN (SELECT number FROM documents WHERE ${sql})`
  return toKeys(await read({ unprepared }, values, KEYS_MS))
}

const [COMMA, ZERO] = [0x2c, 0x30]

/** Read digit by digit: to split the text would make a string of each of what may be millions of keys. */
function toKeys([row]: readonly Row[]): Uint32Array {
  const text = optionalText(row, 'keys')
  if (text === undefined) return new Uint32Array()
  const keys = new Uint32Array(Math.ceil(text.length / 2))
  let last = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === COMMA) last += 1
    else keys[last] = (keys[last] ?? 0) * 10 + code - ZERO
  }
  return keys.slice(0, last + 1).sort()
}

function toPage(rows: readonly Row[], length: number): ChunkPage {
  const chunks = rows.slice(0, length).map(toChunk)
  const last = rows.length > length ? rows[length - 1] : undefined
  const place = last && { key: integer(last, 'revision'), number: integer(last, 'ordinal') }
  return { chunks, nextCursor: place && encodeCursor(CHUNK_LIST, place) }
}

/** Queries for vectors, and for those of a replacement. */
export function createVectorReads(
  read: Read,
  { isIn }: Dialect,
): Pick<DocumentStore, 'embedding' | 'vectorsGeneration' | 'readVectors' | 'countWithoutVector'> &
  Pick<VectorReplacement, 'unfinished' | 'chunksWithout'> {
  const GENERATION = `SELECT value FROM meta WHERE name = 'vectors_generation'`
  const VECTORS = `SELECT key, vector FROM vectors WHERE key ${isIn('$1')} ORDER BY key`
  const WITHOUT_VECTOR = `SELECT count(*) AS n FROM documents JOIN chunks ON document = number
    WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.key = chunks.key)`
  const BEGUN = `SELECT model, dimension, (SELECT count(*) FROM next_vectors) AS vectors
    FROM embeddings WHERE vectors = 'next'`
  const CHUNKS_WITHOUT = `SELECT ${COLUMNS} FROM chunks JOIN documents ON number = document
    WHERE chunks.key > $1
      AND NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key)
    ORDER BY chunks.key LIMIT $2`

  return {
    embedding: async () => toEmbedding((await read(EMBEDDING, ['current']))[0]),
    vectorsGeneration: async () => integer((await read(GENERATION))[0], 'value'),
    readVectors: async (keys) => toVectors(await read(VECTORS, [keys])),
    countWithoutVector: async (id) => integer((await read(WITHOUT_VECTOR, [id]))[0], 'n'),
    async unfinished() {
      const [row] = await read(BEGUN, [], REPLACEMENT_MS)
      const embedding = toEmbedding(row)
      return embedding && { ...embedding, vectors: integer(row, 'vectors') }
    },
    async chunksWithout(key, limit) {
      return (await read(CHUNKS_WITHOUT, [key, limit], REPLACEMENT_MS)).map(toChunk)
    },
  }
}

/** Reads a row of `chunks` joined with its document's `id` and the columns of its revision. */
function toChunk(row: Row): StoredChunk {
  const documentId = text(row, 'id')
  const { title, url, ...content } = toContent(row)
  const labels = {
    collection: content.collection,
    conversation: optionalText(row, 'conversation'),
    metadata: content.metadata,
    access: content.access,
    creator: optionalText(row, 'creator'),
  }
  const id = `${documentId}-${integer(row, 'revision')}-${integer(row, 'ordinal')}`
  return { ...toNewChunk(row), ...labels, id, documentId, title, url }
}

/** Reads a row of `chunks`. */
export function toNewChunk(row: Row): NewChunk {
  return {
    key: integer(row, 'key'),
    ordinal: integer(row, 'ordinal'),
    text: text(row, 'text'),
    heading: text(row, 'heading'),
    start: integer(row, 'start'),
    end: integer(row, 'end'),
    page: optionalInteger(row, 'page'),
    pageEnd: optionalInteger(row, 'page_end'),
    context: optionalText(row, 'context'),
  }
}

/** Reads a row of `embeddings`. */
export function toEmbedding(row: Row | undefined): EmbeddingModel | undefined {
  return row && { model: text(row, 'model'), dimension: integer(row, 'dimension') }
}

/** Reads rows with `key` and `vector`. */
export function toVectors(rows: readonly Row[]): KeyedVectors {
  const dimension = rows.length > 0 ? dimensionOf(bytes(rows[0], 'vector')) : 0
  const keys = new Uint32Array(rows.length)
  const values = new Float32Array(rows.length * dimension)
  for (const [position, row] of rows.entries()) {
    keys[position] = integer(row, 'key')
    const start = position * dimension
    fromHalfFloats(bytes(row, 'vector'), values.subarray(start, start + dimension))
  }
  return { keys, dimension, values }
}

const EMBEDDING = 'SELECT model, dimension FROM embeddings WHERE vectors = $1'
const KEEP_EMBEDDING = `INSERT INTO embeddings (vectors, model, dimension) VALUES ($1, $2, $3)
  ON CONFLICT (vectors) DO UPDATE SET model = excluded.model, dimension = excluded.dimension`
const NEXT_GENERATION = `UPDATE meta SET value = value + 1 WHERE name = 'vectors_generation'`

/** Writes vectors that come after their chunks, and those of a replacement. */
export function createVectorWrites(dialect: Dialect) {
  const isKept = async (tx: Tx, set: 'current' | 'next', { model, dimension }: EmbeddingModel) => {
    const embedding = toEmbedding(await tx.one(EMBEDDING, [set]))
    return embedding?.model === model && embedding.dimension === dimension
  }

  /** Vectors of one embedding only are kept. Those who add some share a lock, so that nobody changes it meanwhile. */
  const keepEmbedding = async (tx: Tx, embedding: EmbeddingModel) => {
    const { model, dimension } = embedding
    if (await isKept(tx, 'current', embedding)) {
      await dialect.exclude(tx, 'embedding', 'shared')
      if (await isKept(tx, 'current', embedding)) return
      throw new Conflict('The embedding has just changed')
    }
    await dialect.exclude(tx, 'embedding')
    if (await isKept(tx, 'current', embedding)) return
    if (await tx.one('SELECT 1 AS one FROM vectors LIMIT 1')) {
      throw new Error(`Vectors of ${model} (${dimension}) are incompatible with the stored vectors`)
    }
    if (await tx.one(EMBEDDING, ['current'])) await tx.run(NEXT_GENERATION)
    await tx.run(KEEP_EMBEDDING, ['current', model, dimension])
  }

  return {
    /** Stores vectors of chunks that still exist, and returns their keys. */
    async addVectors(tx: Tx, vectors: KeyedVectors, model: string): Promise<number[]> {
      await keepEmbedding(tx, { model, dimension: vectors.dimension })
      return dialect.insertVectors(tx, 'vectors', vectors)
    },

    /** Begins a replacement, or resumes one with the same embedding. Returns how many chunks have a new vector. */
    async beginVectors(tx: Tx, embedding: EmbeddingModel): Promise<number> {
      await dialect.exclude(tx, 'next-vectors')
      if (await isKept(tx, 'next', embedding)) {
        return integer(await tx.one('SELECT count(*) AS n FROM next_vectors'), 'n')
      }
      await tx.run('DELETE FROM next_vectors')
      await tx.run(KEEP_EMBEDDING, ['next', embedding.model, embedding.dimension])
      return 0
    },

    async addNextVectors(tx: Tx, vectors: KeyedVectors): Promise<void> {
      await dialect.insertVectors(tx, 'next_vectors', vectors)
    },

    /** Replaces the vectors in use by the new ones. Throws an Error unless every chunk has one. */
    async swapVectors(tx: Tx): Promise<void> {
      await dialect.exclude(tx, 'embedding')
      await dialect.lockChunks(tx)
      const missing = await tx.one(`SELECT 1 AS one FROM chunks
        WHERE NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key) LIMIT 1`)
      if (missing) throw new Error('Some chunks have no new vector yet')
      for (const statement of dialect.swapVectors) await tx.run(statement)
      await tx.run(NEXT_GENERATION)
      await tx.run(`DELETE FROM embeddings WHERE vectors = 'current'`)
      await tx.run(`UPDATE embeddings SET vectors = 'current' WHERE vectors = 'next'`)
    },
  }
}

const MAX_CHUNK_KEY = 2 ** 32 - 1
const RESERVE = `UPDATE meta SET value = value + $1 WHERE name = 'next_chunk_key'
  RETURNING value, now_ms() / 60000 AS minute`
const MARK = `INSERT INTO key_marks (minute, next_key) VALUES ($1, $2)
  ON CONFLICT (minute) DO UPDATE SET next_key = excluded.next_key`
const KEEP_MARKS = `DELETE FROM key_marks
  WHERE minute < (SELECT max(minute) FROM key_marks WHERE minute < $1)`
const RETIRE = `INSERT INTO key_marks (minute, next_key)
  SELECT now_ms() / 60000 - $1, value FROM meta WHERE name = 'next_chunk_key'`

/** Keys are refused at this age: an index may forget what it holds under keys that no document has had for an hour. */
export const MAX_KEY_MINUTES = 45

/** The keys of chunks; `key_marks` tells how old each is. */
export function createKeyWrites(dialect: Dialect) {
  return {
    /** Reserves `count` keys that nobody else ever gets, and returns the first. */
    async reserveChunkKeys(tx: Tx, count: number): Promise<number> {
      const row = await tx.one(RESERVE, [count])
      const [next, minute] = [integer(row, 'value'), integer(row, 'minute')]
      if (next - 1 > MAX_CHUNK_KEY) {
        throw new AppError('storage_full', 'The document store has used up its chunk keys')
      }
      await Promise.all([
        tx.run(MARK, [minute, next]),
        tx.run(KEEP_MARKS, [minute - MAX_KEY_MINUTES]),
      ])
      return next - count
    },

    /** Makes all keys reserved so far too old. Those who complete a job have read the marks, and are waited for. */
    async retireChunkKeys(tx: Tx): Promise<void> {
      await dialect.lockKeyMarks(tx)
      await tx.run('DELETE FROM key_marks')
      await tx.run(RETIRE, [MAX_KEY_MINUTES + 1])
    },
  }
}
