import type { DatabaseSync } from 'node:sqlite'
import { dimensionOf, fromHalfFloats } from '../chunk-codec.ts'
import type {
  DocumentStore,
  Embedding,
  KeyedVectors,
  StoredChunk,
  VectorReplacement,
} from '../document-store.ts'
import { bytes, integer, text, toChunk } from '../rows.ts'
import { toStoreError } from './error.ts'
import type { WriteQueue } from './write-queue.ts'

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

type VectorReads = Pick<
  DocumentStore,
  'embedding' | 'vectorsGeneration' | 'readVectors' | 'vectorKeys'
> & {
  /** What the next vectors are made with, and how many there are. */
  nextEmbedding(): Promise<(Embedding & { vectors: number }) | undefined>
  /** The chunks after `key`, in ascending order, that have no next vector yet. */
  chunksWithoutNext(key: number, limit: number): Promise<StoredChunk[]>
}

/** What is asked of the vectors; `refuse` throws while nothing may be. */
export function createVectorReads(database: DatabaseSync, refuse: () => void): VectorReads {
  const selectEmbedding = database.prepare(EMBEDDING)
  const selectNext = database.prepare(NEXT_EMBEDDING)
  const selectGeneration = database.prepare(GENERATION)
  const selectVectors = database.prepare(VECTORS)
  const selectKeys = database.prepare(VECTOR_KEYS)
  const selectWithoutNext = database.prepare(CHUNKS_WITHOUT_NEXT)

  const read = async <T>(query: () => T): Promise<T> => {
    refuse()
    try {
      return query()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  return {
    embedding: () =>
      read(() => {
        const row = selectEmbedding.get()
        return row && { model: text(row, 'model'), dimension: integer(row, 'dimension') }
      }),
    nextEmbedding: () =>
      read(() => {
        const row = selectNext.get()
        const embedding = row && {
          model: text(row, 'model'),
          dimension: integer(row, 'dimension'),
        }
        return embedding && { ...embedding, vectors: integer(row, 'vectors') }
      }),
    vectorsGeneration: () => read(() => integer(selectGeneration.get(), 'value')),
    readVectors: (keys) => read(() => toVectors(selectVectors.all(JSON.stringify(keys)))),
    vectorKeys: () =>
      read(() => {
        const keys = JSON.parse(text(selectKeys.get(), 'keys'))
        return Uint32Array.from<number>(keys).sort()
      }),
    chunksWithoutNext: (key, limit) => read(() => selectWithoutNext.all(key, limit).map(toChunk)),
  }
}

export function toVectors(rows: readonly Parameters<typeof integer>[0][]): KeyedVectors {
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

export function createVectorReplacement(
  { write }: Pick<WriteQueue, 'write'>,
  { nextEmbedding, chunksWithoutNext }: Pick<VectorReads, 'nextEmbedding' | 'chunksWithoutNext'>,
): VectorReplacement {
  return {
    // The directory has one process, which makes them in one place.
    async alone(work, signal) {
      await work(signal)
      return true
    },
    begin: (embedding) => write({ name: 'beginVectors', input: embedding }),
    begun: nextEmbedding,
    chunksWithout: chunksWithoutNext,
    add: ({ keys, dimension, values }) =>
      write({ name: 'addNextVectors', input: { keys: [...keys], dimension, values } }),
    finish: () => write({ name: 'swapVectors', input: undefined }),
  }
}
