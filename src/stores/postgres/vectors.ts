import { toHalfFloats } from '../chunk-codec.ts'
import type { DocumentStore, VectorReplacement } from '../document-store.ts'
import { integer, toChunk, toEmbedding, toVectors } from '../rows.ts'
import { CHUNK_COLUMNS, readAllKeys } from './chunks.ts'
import { holdLock } from './connection.ts'
import type { Database, Query } from './database.ts'

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
export function createVectorReads(database: Database): VectorReads {
  return {
    async embedding() {
      const [row] = await database.read(EMBEDDING)
      return toEmbedding(row)
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

const LONG_MS = 60_000
/** The second half of an advisory lock; those below are taken by the functions of the schema. */
const REPLACEMENT_LOCK = 6

const BEGIN: Query = { text: 'SELECT agent_server.begin_vectors($1, $2) AS done' }
const BEGUN: Query = {
  name: 'begun_vectors',
  text: `SELECT model, dimension, (SELECT count(*) FROM agent_server.next_vectors) AS vectors
    FROM agent_server.embeddings WHERE vectors = 'next'`,
  milliseconds: LONG_MS,
}
const ADD: Query = {
  name: 'add_next_vectors',
  text: 'SELECT agent_server.add_next_vectors($1::bigint[], $2, $3)',
  milliseconds: LONG_MS,
}
const SWAP: Query = { text: 'SELECT agent_server.swap_vectors()', milliseconds: LONG_MS }
const CHUNKS_WITHOUT: Query = {
  name: 'chunks_without_next',
  text: `SELECT ${CHUNK_COLUMNS}
    FROM agent_server.chunks JOIN agent_server.documents ON number = document
    WHERE chunks.key > $1 AND NOT EXISTS (
      SELECT 1 FROM agent_server.next_vectors WHERE next_vectors.key = chunks.key)
    ORDER BY chunks.key LIMIT $2`,
  milliseconds: LONG_MS,
}

export function createVectorReplacement(url: string, database: Database): VectorReplacement {
  return {
    alone: (work, signal) => holdLock({ url, lock: REPLACEMENT_LOCK }, work, signal),
    async begin({ model, dimension }) {
      const [row] = await database.write(BEGIN, [model, dimension])
      return integer(row, 'done')
    },
    async begun() {
      const [row] = await database.read(BEGUN, [])
      const embedding = toEmbedding(row)
      return embedding && { ...embedding, vectors: integer(row, 'vectors') }
    },
    async chunksWithout(key, limit) {
      return (await database.read(CHUNKS_WITHOUT, [key, limit])).map(toChunk)
    },
    async add({ keys, dimension, values }) {
      await database.write(ADD, [[...keys], dimension, toHalfFloats(values)])
    },
    async finish() {
      await database.write(SWAP)
    },
  }
}
