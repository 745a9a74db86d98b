import { bytes, integer, type Row, text } from '../columns.ts'
import type { DocumentStore, KeyedVectors } from '../document-store.ts'
import { dimensionOf, fromHalfFloats } from '../half-floats.ts'
import type { Database, Query } from './database.ts'
import { readAllKeys } from './key-lists.ts'

const EMBEDDING: Query = {
  name: 'embedding',
  text: `SELECT model, dimension FROM agent_server.embeddings WHERE vectors = 'current'`,
}
const GENERATION: Query = {
  name: 'vectors_generation',
  text: `SELECT value FROM agent_server.meta WHERE name = 'vectors_generation'`,
}
const VECTORS: Query = {
  name: 'vectors',
  text: `SELECT key, vector FROM agent_server.vectors WHERE key = ANY ($1::bigint[]) ORDER BY key`,
}

type VectorReads = Pick<
  DocumentStore,
  'embedding' | 'vectorsGeneration' | 'readVectors' | 'vectorKeys'
>

/** What is asked of the vectors. */
export function createVectorReads(database: Pick<Database, 'read'>): VectorReads {
  return {
    async embedding() {
      const [row] = await database.read(EMBEDDING)
      return row && { model: text(row, 'model'), dimension: integer(row, 'dimension') }
    },
    async vectorsGeneration() {
      const [row] = await database.read(GENERATION)
      return integer(row, 'value')
    },
    async readVectors(keys) {
      return toVectors(await database.read(VECTORS, [keys]))
    },
    vectorKeys: () => readAllKeys(database, 'vectors'),
  }
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
