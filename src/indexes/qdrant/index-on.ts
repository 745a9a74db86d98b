import type { ChunkIndex } from '../chunk-index.ts'
import type { CollectionSettings } from '../qdrant-settings.ts'
import { checkVersion } from './check-version.ts'
import { createChangeOrder } from './in-order.ts'
import { openParts, type Parts } from './open-parts.ts'
import { rangeKeysIn } from './payload-filter.ts'
import type { QdrantConnection } from './qdrant-connection.ts'
import { unavailable } from './qdrant-error.ts'
import type { ServedCollections } from './served-collections.ts'

/** About what Qdrant holds in memory for one chunk: see docs/scaling.md. */
const BYTES_PER_CHUNK = 1_500
const BYTES_PER_VECTOR = 1_200

export interface QdrantIndex extends ChunkIndex {
  /** Finds its collections, or makes them. Throws what to do where what is there does not fit, and `index_unavailable`. */
  open(signal?: AbortSignal): Promise<void>
}

/** The index that certain collections make. Nothing is sent before `open`. */
export function indexOn(
  connection: QdrantConnection,
  served: ServedCollections,
  settings: CollectionSettings,
): QdrantIndex {
  const order = createChangeOrder()
  let parts: Parts | undefined
  let closed = false

  const opened = (): Parts => {
    if (closed) throw new Error('The index is closed')
    if (!parts) throw unavailable('The search index has not been reached yet')
    return parts
  }

  return {
    async open(signal) {
      await checkVersion(connection, signal)
      parts = await openParts(connection, served, settings, signal)
    },

    async add(keys, batch, metadata) {
      const { terms } = opened()
      await order.run(keys, () => terms.add(keys, batch, metadata))
    },
    async addVectors(batch, metadata) {
      const { vectors } = opened()
      if (batch.keys.length > 0) await order.run(batch.keys, () => vectors.add(batch, metadata))
    },
    async remove(keys) {
      const { terms, vectors } = opened()
      await order.run(keys, async () => {
        await Promise.all([terms.remove(keys), vectors.remove(keys)])
      })
    },

    keepsMetadata: true,
    async filters(filter, signal) {
      signal?.throwIfAborted()
      const { terms, vectors } = opened()
      const keys = rangeKeysIn(filter)
      // What is looked up by words has its index wherever there is a collection.
      if (!keys || keys.length === 0) return keys !== undefined
      return (await terms.filters(keys, signal)) && (await vectors.filters(keys, signal))
    },

    async search(query, signal) {
      signal?.throwIfAborted()
      return opened().terms.search(query, signal)
    },
    async nearest(query, signal) {
      signal?.throwIfAborted()
      return opened().vectors.nearest(query, signal)
    },

    keys: async () => opened().terms.keys(),
    vectorKeys: async () => opened().vectors.keys(),
    async statistics() {
      const [chunks, vectors] = await Promise.all([
        opened().terms.count(),
        opened().vectors.count(),
      ])
      const bytes = chunks * BYTES_PER_CHUNK + vectors * BYTES_PER_VECTOR
      return { chunks, vectors, vectorSearch: 'graph', bytes, segments: 1 }
    },
    async check(signal) {
      opened()
      await served.check(signal)
    },

    async flush() {
      // Qdrant writes what it takes before it answers.
    },
    async close() {
      closed = true
    },
  }
}
