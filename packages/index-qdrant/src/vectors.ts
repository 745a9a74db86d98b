import type { ChunkLabels, IndexMatch, VectorBatch, VectorQuery } from '@agent-server/search'
import type { PointQuery } from './api.ts'
import { DENSE, type VectorsMetadata } from './collections.ts'
import { createPayloads } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, type Points, pointsOf } from './points.ts'
import type { ServedCollections } from './served-collections.ts'
import type { Quantisation } from './settings.ts'
import { short } from './terms.ts'

/** Maximum vector values per request, about 4 MB. */
const BATCH_NUMBERS = 400_000
/** Factor of extra candidates that 4-bit vectors need so as to include the best. */
const OVERSAMPLING = 2

/** The vectors of chunks. Their collection is created with the first vectors, in their dimension. */
export function createVectorsPart(
  points: Points,
  indexes: PayloadIndexes,
  served: Pick<ServedCollections, 'vectors' | 'makeVectors'>,
  quantisation: Quantisation,
) {
  let collection: VectorsMetadata | undefined
  let making: Promise<void> | undefined

  /** Looks up the dimension; another server may have created the collection meanwhile. */
  const find = async (signal?: AbortSignal) => {
    if (collection) return collection.dimension
    const metadata = await served.vectors(signal)
    // `collection` may have been set while this call waited.
    collection ??= metadata
    return collection?.dimension
  }

  const makeFor = async (dimension: number) => {
    if (collection?.dimension === dimension || (collection && (await points.count()) > 0)) return
    await served.makeVectors(dimension, collection)
    indexes.forget()
    collection = await served.vectors()
  }

  const readyFor = async (dimension: number) => {
    if ((await find()) === dimension) return
    // Shared by concurrent calls: a second run would replace the first collection by an empty one.
    making ??= makeFor(dimension).finally(() => {
      making = undefined
    })
    await making
    if (collection?.dimension === dimension) return
    throw new RangeError(`The index holds vectors of ${collection?.dimension}, not ${dimension}`)
  }

  return {
    /** The collection's metadata as last read; undefined if there was no collection. */
    collection: () => collection,
    /** Throws an Error if the existing collection does not fit. */
    open: find,
    keys: async () => ((await find()) === undefined ? new Uint32Array() : points.keys()),

    async add({ keys, dimension, values }: VectorBatch, labels: ChunkLabels) {
      await readyFor(dimension)
      await indexes.makeFor(labels)
      const vectorOf = (place: number) =>
        Array.from(values.subarray(place * dimension, (place + 1) * dimension), short)
      const size = Math.max(1, Math.floor(BATCH_NUMBERS / dimension))
      await points.put(pointsOf(keys, DENSE, vectorOf, createPayloads(labels)), size)
    },

    async setLabels(keys: readonly number[], labels: ChunkLabels) {
      if ((await find()) === undefined) return
      await indexes.makeFor(labels)
      await points.setPayloads(keys, createPayloads(labels))
    },

    async remove(keys: readonly number[]) {
      if ((await find()) !== undefined) await points.remove(keys)
    },

    /** Whether `nearest` can filter by these payload keys. */
    async filters(keys: readonly string[], signal?: AbortSignal) {
      return (await find(signal)) === undefined || indexes.hold(keys, signal)
    },

    async nearest(query: VectorQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      if ((await find(signal)) !== query.vector.length) return []
      const vector = Array.from(query.vector, short)
      const request = { query: vector, using: DENSE, params: paramsFor(quantisation) }
      const best = bestOf(query, (where) => points.query({ ...request, ...where }, signal))
      return indexes.passOn(query, best)
    },
  }
}

/**
 * Searches use only the quantised vectors if these are accurate enough: the document store's decide in the end. Where a
 * filter takes too many points to compare all of them, and yet few, the graph is searched past those that it does not take.
 */
function paramsFor(quantisation: Quantisation): NonNullable<PointQuery['params']> {
  const acorn = { enable: true }
  if (quantisation === 'none') return { acorn }
  if (quantisation === 'int8') return { acorn, quantization: { rescore: false } }
  return { acorn, quantization: { rescore: true, oversampling: OVERSAMPLING } }
}
