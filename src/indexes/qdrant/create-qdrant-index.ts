import type { ChunkIndex } from '../chunk-index.ts'
import { checkVersion } from './check-version.ts'
import { createCollections } from './collections.ts'
import { createChangeOrder } from './in-order.ts'
import { createPoints } from './points.ts'
import { connectToQdrant, type QdrantAddress } from './qdrant-connection.ts'
import { unavailable } from './qdrant-error.ts'
import type { CollectionSettings } from './qdrant-settings.ts'
import { createServedCollections } from './served-collections.ts'
import { createTermsPart, type TermsPart } from './terms-part.ts'
import { findNearest, putVectors } from './vectors-part.ts'

/** About what Qdrant holds in memory for one chunk: see docs/scaling.md. */
const BYTES_PER_CHUNK = 1_500
const BYTES_PER_VECTOR = 1_200

export interface QdrantIndexOptions {
  address: QdrantAddress
  /** What the names of the collections begin with. */
  prefix: string
  settings: CollectionSettings
  /** `Analyser.fingerprint`: a collection made under another one is refused. */
  fingerprint: string
  /** Changes when all vectors are made anew: those of another one are refused. */
  vectorFingerprint: string
  /** The mean length of a chunk, in terms, asked when the collection is made. */
  averageLength: () => Promise<number>
}

export interface QdrantIndex extends ChunkIndex {
  /** Finds its collections, or makes them. Throws what to do where what is there does not fit, and `index_unavailable`. */
  open(signal?: AbortSignal): Promise<void>
}

/** An index in a Qdrant that any number of servers share. Nothing is sent before `open`. */
export function createQdrantIndex(options: QdrantIndexOptions): QdrantIndex {
  const connection = connectToQdrant(options.address)
  const collections = createCollections(connection)
  const served = createServedCollections({ ...options, collections })
  const termPoints = createPoints(connection, served.termsAlias)
  const vectorPoints = createPoints(connection, served.vectorsAlias)
  const order = createChangeOrder()
  let terms: TermsPart | undefined
  /** Nothing while there are no vectors. */
  let dimension: number | undefined
  let closed = false

  const opened = (): TermsPart => {
    if (closed) throw new Error('The index is closed')
    if (!terms) throw unavailable('The search index has not been reached yet')
    return terms
  }
  const findDimension = async (signal?: AbortSignal) => {
    opened()
    dimension ??= (await served.vectors(signal))?.dimension
    return dimension
  }
  const readyFor = async (wanted: number) => {
    const held = await findDimension()
    if (held === wanted) return
    if (held !== undefined && (await vectorPoints.count()) > 0) {
      throw new RangeError(`The index holds vectors of ${held}, not ${wanted}`)
    }
    await served.makeVectors(wanted)
    dimension = wanted
  }

  return {
    async open(signal) {
      await checkVersion(connection, signal)
      const { averageLength } = await served.terms(signal)
      dimension = (await served.vectors(signal))?.dimension
      terms = createTermsPart(termPoints, averageLength)
    },

    async add(keys, batch) {
      const part = opened()
      await order.run(keys, () => part.add(keys, batch))
    },
    async addVectors(batch) {
      opened()
      if (batch.keys.length === 0) return
      await order.run(batch.keys, async () => {
        await readyFor(batch.dimension)
        await putVectors(vectorPoints, batch)
      })
    },
    async remove(keys) {
      opened()
      await order.run(keys, async () => {
        const held = await findDimension()
        await Promise.all([
          termPoints.remove(keys),
          held !== undefined && vectorPoints.remove(keys),
        ])
      })
    },

    async search(query, signal) {
      signal?.throwIfAborted()
      return opened().search(query, signal)
    },
    async nearest(query, signal) {
      signal?.throwIfAborted()
      if ((await findDimension(signal)) !== query.vector.length) return []
      return findNearest(vectorPoints, options.settings.quantisation, query, signal)
    },

    async keys() {
      opened()
      return termPoints.keys()
    },
    async vectorKeys() {
      return (await findDimension()) === undefined ? new Uint32Array() : vectorPoints.keys()
    },
    async statistics() {
      opened()
      const chunks = await termPoints.count()
      const vectors = (await findDimension()) === undefined ? 0 : await vectorPoints.count()
      const bytes = chunks * BYTES_PER_CHUNK + vectors * BYTES_PER_VECTOR
      return { chunks, vectors, vectorSearch: 'graph', bytes, segments: 1 }
    },

    async flush() {
      // Qdrant writes what it takes before it answers.
    },
    async close() {
      closed = true
    },
  }
}
