import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { toHalfFloats } from '../chunk-codec.ts'
import type {
  ChunkVectors,
  DocumentStore,
  Embedding,
  KeyedVectors,
  NewChunk,
  VectorReplacement,
} from '../document-store.ts'
import { integer, type Row, text, toChunk, toEmbedding, toVectors } from '../rows.ts'

const EMBEDDING = "SELECT model, dimension FROM embeddings WHERE vectors = 'current'"
const NEXT_EMBEDDING = `
  SELECT model, dimension, (SELECT count(*) FROM next_vectors) AS vectors
  FROM embeddings WHERE vectors = 'next'`
const GENERATION = "SELECT value FROM meta WHERE name = 'vectors_generation'"
const VECTORS = `
  SELECT key, vector FROM vectors
  WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key`
const VECTOR_KEYS = 'SELECT json_group_array(key) AS keys FROM vectors INDEXED BY vectors_key'
const CHUNKS_WITHOUT_NEXT = `
  SELECT chunks.key, chunks.revision, ordinal, start, end, heading, text, page, page_end,
    documents.id, title, url, metadata
  FROM chunks JOIN documents ON number = document
  WHERE chunks.key > ? AND NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key)
  ORDER BY chunks.key LIMIT ?`

type Read = <T>(query: () => T) => Promise<T>

export function createVectorReads(
  database: DatabaseSync,
  read: Read,
): Pick<DocumentStore, 'embedding' | 'vectorsGeneration' | 'readVectors' | 'vectorKeys'> {
  const selectEmbedding = database.prepare(EMBEDDING)
  const selectGeneration = database.prepare(GENERATION)
  const selectVectors = database.prepare(VECTORS)
  const selectKeys = database.prepare(VECTOR_KEYS)

  return {
    embedding: () => read(() => toEmbedding(selectEmbedding.get())),
    vectorsGeneration: () => read(() => integer(selectGeneration.get(), 'value')),
    readVectors: (keys) => read(() => toVectors(selectVectors.all(JSON.stringify(keys)))),
    vectorKeys: () => read(() => toKeys(selectKeys.get())),
  }
}

/** How far making the vectors anew has come. */
export function createReplacementReads(
  database: DatabaseSync,
  read: Read,
): Pick<VectorReplacement, 'begun' | 'chunksWithout'> {
  const selectNext = database.prepare(NEXT_EMBEDDING)
  const selectWithoutNext = database.prepare(CHUNKS_WITHOUT_NEXT)

  return {
    begun: () =>
      read(() => {
        const row = selectNext.get()
        const embedding = toEmbedding(row)
        return embedding && { ...embedding, vectors: integer(row, 'vectors') }
      }),
    chunksWithout: (key, limit) => read(() => selectWithoutNext.all(key, limit).map(toChunk)),
  }
}

/** Reads a row whose `keys` are a JSON text; ascending. */
export function toKeys(row: Row | undefined): Uint32Array {
  return Uint32Array.from<number>(JSON.parse(text(row, 'keys'))).sort()
}

/** Adds the vectors of chunks that have just been added, inside the transaction that added them. */
export function insertVectors(
  sql: SQLTagStore,
  chunks: readonly NewChunk[],
  { values, ...embedding }: ChunkVectors,
): void {
  if (values.length !== chunks.length * embedding.dimension) {
    throw new RangeError(`${values.length} numbers are no vectors of ${chunks.length} chunks`)
  }
  const keys = chunks.map(({ key }) => key)
  insertKeyedVectors(sql, { keys, dimension: embedding.dimension, values }, embedding)
}

/** As `insertVectors`, for those chunks that have one. */
export function insertKeyedVectors(
  sql: SQLTagStore,
  { keys, dimension, values }: Omit<KeyedVectors, 'keys'> & { keys: Iterable<number> },
  embedding: Embedding,
): void {
  keepEmbedding(sql, embedding)
  for (const [position, key] of [...keys].entries()) {
    const vector = toHalfFloats(vectorAt(values, position, dimension))
    sql.run`INSERT INTO vectors (key, vector) VALUES (${key}, ${vector})`
  }
}

/** Making vectors anew, beside those in use. Each write runs inside a transaction of the caller's. */
export function createVectorWrites(sql: SQLTagStore) {
  return {
    /** Begins a set of next vectors, or goes on with the one of the same embedding. */
    beginVectors({ model, dimension }: Embedding): number {
      const begun = toEmbedding(
        sql.get`SELECT model, dimension FROM embeddings WHERE vectors = 'next'`,
      )
      if (begun?.model === model && begun.dimension === dimension)
        return integer(sql.get`SELECT count(*) AS n FROM next_vectors`, 'n')
      sql.run`DELETE FROM next_vectors`
      sql.run`
        INSERT OR REPLACE INTO embeddings (vectors, model, dimension)
        VALUES ('next', ${model}, ${dimension})`
      return 0
    },

    addNextVectors({ keys, dimension, values }: KeyedVectors): void {
      for (const [position, key] of keys.entries()) {
        const vector = toHalfFloats(vectorAt(values, position, dimension))
        // While a server goes on, a chunk may be gone by the time it is embedded.
        sql.run`
          INSERT OR REPLACE INTO next_vectors (key, vector)
          SELECT ${key}, ${vector} WHERE EXISTS (SELECT 1 FROM chunks WHERE key = ${key})`
      }
    },

    /** Puts the next vectors in the place of those in use. Throws unless every chunk has one. */
    swapVectors(): void {
      const missing = sql.get`
        SELECT count(*) AS n FROM chunks
        WHERE NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key)`
      if (integer(missing, 'n') > 0) throw new Error('Some chunks have no new vector yet')
      // By name, so that no vector is copied.
      sql.run`DROP TABLE vectors`
      sql.run`ALTER TABLE next_vectors RENAME TO vectors`
      sql.run`CREATE UNIQUE INDEX vectors_key ON vectors (key)`
      sql.run`
        CREATE TABLE next_vectors (
          key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
          vector BLOB NOT NULL
        ) STRICT`
      sql.run`UPDATE meta SET value = value + 1 WHERE name = 'vectors_generation'`
      sql.run`DELETE FROM embeddings WHERE vectors = 'current'`
      sql.run`UPDATE embeddings SET vectors = 'current' WHERE vectors = 'next'`
    },
  }
}

function keepEmbedding(sql: SQLTagStore, { model, dimension }: Embedding): void {
  const kept = toEmbedding(
    sql.get`SELECT model, dimension FROM embeddings WHERE vectors = 'current'`,
  )
  if (kept?.model === model && kept.dimension === dimension) return
  if (sql.get`SELECT 1 FROM vectors LIMIT 1`) {
    throw new Error(`Vectors of ${model} (${dimension}) do not go with those that are kept`)
  }
  if (kept) sql.run`UPDATE meta SET value = value + 1 WHERE name = 'vectors_generation'`
  sql.run`
    INSERT OR REPLACE INTO embeddings (vectors, model, dimension)
    VALUES ('current', ${model}, ${dimension})`
}

function vectorAt(values: Float32Array, position: number, dimension: number): Float32Array {
  return values.subarray(position * dimension, (position + 1) * dimension)
}
