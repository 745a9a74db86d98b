import { toHalfFloats } from '../chunk-codec.ts'
import type { DocumentStore, Embedding } from '../document-store.ts'
import type { Query } from '../sql/query.ts'
import { integer } from '../sql/rows.ts'
import type { VectorReplacement } from '../vector-replacement.ts'
import { holdLock } from './connection.ts'
import type { Database } from './database.ts'
import { keysIn } from './documents.ts'
import { EmbeddingError } from './error.ts'

const LONG_MS = 60_000
/** The second half of an advisory lock; those below are taken by the functions of the schema. */
const REPLACEMENT_LOCK = 6
const BACKLOG_LOCK = 7

const ADD_LATER: Query = {
  name: 'add_vectors',
  text: 'SELECT agent_server.add_vectors($1, $2, $3::bigint[], $4) AS keys',
  milliseconds: LONG_MS,
}
const BEGIN: Query = { text: 'SELECT agent_server.begin_vectors($1, $2) AS done' }
const ADD: Query = {
  name: 'add_next_vectors',
  text: 'SELECT agent_server.add_next_vectors($1::bigint[], $2, $3)',
  milliseconds: LONG_MS,
}
const SWAP: Query = { text: 'SELECT agent_server.swap_vectors()', milliseconds: LONG_MS }
/** Keeps vectors that come after their chunks; one server at a time makes them. */
export function createLaterVectors(
  url: string,
  database: Database,
): Pick<DocumentStore, 'addVectors'> & { backlogAlone: VectorReplacement['alone'] } {
  return {
    backlogAlone: (work, signal) => holdLock({ url, lock: BACKLOG_LOCK }, work, signal),
    async addVectors({ keys, dimension, values }, model) {
      const given = [model, dimension, [...keys], toHalfFloats(values)]
      const [row] = await database.write(ADD_LATER, given).catch((error: unknown) => {
        throw nameEmbedding(error, { model, dimension })
      })
      return keysIn(row) ?? []
    },
  }
}

/** How vectors are made anew, beside those in use. */
export function createVectorWrites(
  url: string,
  database: Database,
): Omit<VectorReplacement, 'begun' | 'chunksWithout'> {
  return {
    alone: (work, signal) => holdLock({ url, lock: REPLACEMENT_LOCK }, work, signal),
    async begin({ model, dimension }) {
      const [row] = await database.write(BEGIN, [model, dimension])
      return integer(row, 'done')
    },
    async add({ keys, dimension, values }) {
      await database.write(ADD, [[...keys], dimension, toHalfFloats(values)])
    },
    async finish() {
      await database.write(SWAP)
    },
  }
}

/** Says which embedding it is that does not go with the one that is kept. */
export function nameEmbedding(error: unknown, { model, dimension }: Embedding): unknown {
  if (!(error instanceof EmbeddingError)) return error
  return new Error(`Vectors of ${model} (${dimension}) do not go with those that are kept`)
}
