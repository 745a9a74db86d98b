import { toHalfFloats } from '../chunk-codec.ts'
import type { VectorReplacement } from '../document-store.ts'
import type { Query } from '../sql/query.ts'
import { integer } from '../sql/rows.ts'
import { holdLock } from './connection.ts'
import type { Database } from './database.ts'

const LONG_MS = 60_000
/** The second half of an advisory lock; those below are taken by the functions of the schema. */
const REPLACEMENT_LOCK = 6

const BEGIN: Query = { text: 'SELECT agent_server.begin_vectors($1, $2) AS done' }
const ADD: Query = {
  name: 'add_next_vectors',
  text: 'SELECT agent_server.add_next_vectors($1::bigint[], $2, $3)',
  milliseconds: LONG_MS,
}
const SWAP: Query = { text: 'SELECT agent_server.swap_vectors()', milliseconds: LONG_MS }
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
