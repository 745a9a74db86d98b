import type { SQLTagStore } from 'node:sqlite'
import { toHalfFloats } from '../chunk-codec.ts'
import type { EmbeddingModel, KeyedVectors, NewChunk } from '../document-store.ts'
import { integer, toEmbedding } from '../sql/rows.ts'
import { type CountedTerms, packTerms, type UncountedDocument } from '../term-counts.ts'

/** Adds a chunk to the document with this number. */
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

export function insertVectors(sql: SQLTagStore, vectors: KeyedVectors): void {
  for (const [key, vector] of rowsOf(vectors)) {
    sql.run`INSERT INTO vectors (key, vector) VALUES (${key}, ${vector})`
  }
}

/** Each key with its vector in the form that the column holds. */
function* rowsOf({ keys, dimension, values }: KeyedVectors) {
  for (const [position, key] of keys.entries()) {
    const vector = values.subarray(position * dimension, (position + 1) * dimension)
    yield [key, toHalfFloats(vector)] as const
  }
}

/** Writes later vectors and those of a replacement. Each write runs within the caller's transaction. */
export function createVectorWrites(sql: SQLTagStore) {
  return {
    /** Stores vectors of chunks that still exist, and returns their keys. */
    addVectors(vectors: KeyedVectors, model: string): number[] {
      keepEmbedding(sql, { model, dimension: vectors.dimension })
      const kept: number[] = []
      for (const [key, vector] of rowsOf(vectors)) {
        const { changes } = sql.run`
          INSERT OR REPLACE INTO vectors (key, vector)
          SELECT ${key}, ${vector} WHERE EXISTS (SELECT 1 FROM chunks WHERE key = ${key})`
        if (changes > 0) kept.push(key)
      }
      return kept
    },

    /** Begins a replacement, or resumes one with the same embedding. */
    beginVectors({ model, dimension }: EmbeddingModel): number {
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

    addNextVectors(vectors: KeyedVectors): void {
      for (const [key, vector] of rowsOf(vectors)) {
        // While the server keeps running, a chunk may be gone by the time it is embedded.
        sql.run`
          INSERT OR REPLACE INTO next_vectors (key, vector)
          SELECT ${key}, ${vector} WHERE EXISTS (SELECT 1 FROM chunks WHERE key = ${key})`
      }
    },

    /** Replaces the vectors in use by the new ones. Throws an Error unless every chunk has one. */
    swapVectors(): void {
      const missing = sql.get`
        SELECT count(*) AS n FROM chunks
        WHERE NOT EXISTS (SELECT 1 FROM next_vectors WHERE next_vectors.key = chunks.key)`
      if (integer(missing, 'n') > 0) throw new Error('Some chunks have no new vector yet')
      // By renaming the table, so that no vector is copied.
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

function keepEmbedding(sql: SQLTagStore, { model, dimension }: EmbeddingModel): void {
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

/** Stores the term counts of the document with this number. */
export function insertTerms(sql: SQLTagStore, document: number, counted: CountedTerms): void {
  const { terms, holding } = packTerms(counted)
  sql.run`
    INSERT INTO document_terms (document, analyser, chunks, length, terms, holding)
    VALUES (${document}, ${counted.analyser}, ${counted.chunks}, ${counted.length}, ${terms}, ${holding})`
}

/** Writes term counts outside ingestion. Each write runs within the caller's transaction. */
export function createTermWrites(sql: SQLTagStore) {
  return {
    countTerms({ id, revision }: Omit<UncountedDocument, 'number'>, counted: CountedTerms): void {
      const row = sql.get`
        SELECT number FROM documents WHERE id = ${id} AND served_revision = ${revision}
          AND NOT EXISTS (SELECT 1 FROM document_terms
            WHERE document = number AND analyser = ${counted.analyser})`
      if (row) insertTerms(sql, integer(row, 'number'), counted)
    },

    foldTerms(numbers: readonly number[], sum: CountedTerms): number | undefined {
      const folded = JSON.stringify(numbers)
      const { changes } = sql.run`
        DELETE FROM term_entries WHERE number IN (SELECT value FROM json_each(${folded}))
          AND ${numbers.length} = (SELECT count(*) FROM term_entries
            WHERE number IN (SELECT value FROM json_each(${folded})))`
      if (Number(changes) !== numbers.length) return undefined
      const { terms, holding } = packTerms(sum)
      const row = sql.get`
        INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
        VALUES (${sum.analyser}, 1, ${sum.chunks}, ${sum.length}, ${terms}, ${holding})
        RETURNING number`
      return integer(row, 'number')
    },
  }
}
