import type { ChunkMetadata, IndexMatch, NearestQuery, VectorBatch } from '../chunk-index.ts'
import type { Quantisation } from '../qdrant-settings.ts'
import type { PointQuery } from './api.ts'
import { DENSE, type VectorsMetadata } from './collections.ts'
import { createPayloads } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import { bestOf, type Points, pointsOf } from './points.ts'
import type { ServedCollections } from './served-collections.ts'
import { short } from './terms.ts'

/** Numbers in one request, which makes some four megabytes. */
const BATCH_NUMBERS = 400_000
/** How many times as many candidates the smallest vectors need to hold the best. */
const OVERSAMPLING = 2

/** The vectors of chunks. There is no collection before the first of them, whose dimension it has. */
export function createVectorsPart(
  points: Points,
  indexes: PayloadIndexes,
  served: Pick<ServedCollections, 'vectors' | 'makeVectors'>,
  quantisation: Quantisation,
) {
  let held: VectorsMetadata | undefined
  let making: Promise<void> | undefined

  /** The dimension. Another server may have made the collection since. */
  const find = async (signal?: AbortSignal) => {
    if (held) return held.dimension
    const found = await served.vectors(signal)
    // Meanwhile it may have been made.
    held ??= found
    return held?.dimension
  }

  const makeFor = async (wanted: number) => {
    if (held?.dimension === wanted || (held && (await points.count()) > 0)) return
    await served.makeVectors(wanted, held)
    indexes.forget()
    held = await served.vectors()
  }

  const readyFor = async (wanted: number) => {
    if ((await find()) === wanted) return
    // Shared: another one would put an empty collection in the place of the first.
    making ??= makeFor(wanted).finally(() => {
      making = undefined
    })
    await making
    if (held?.dimension === wanted) return
    throw new RangeError(`The index holds vectors of ${held?.dimension}, not ${wanted}`)
  }

  return {
    /** What the collection said about itself when it was last looked at; nothing where there was none. */
    held: () => held,
    /** Throws where what is kept does not fit. */
    open: find,
    keys: async () => ((await find()) === undefined ? new Uint32Array() : points.keys()),

    async add({ keys, dimension, values }: VectorBatch, metadata?: ChunkMetadata) {
      await readyFor(dimension)
      await indexes.makeFor(metadata)
      const vectorOf = (place: number) =>
        Array.from(values.subarray(place * dimension, (place + 1) * dimension), short)
      const size = Math.max(1, Math.floor(BATCH_NUMBERS / dimension))
      await points.put(pointsOf(keys, DENSE, vectorOf, createPayloads(metadata)), size)
    },

    async remove(keys: readonly number[]) {
      if ((await find()) !== undefined) await points.remove(keys)
    },

    /** Whether `nearest` may filter by these keys of the payload. */
    async filters(keys: readonly string[], signal?: AbortSignal) {
      return (await find(signal)) === undefined || indexes.hold(keys, signal)
    },

    async nearest(query: NearestQuery, signal?: AbortSignal): Promise<IndexMatch[]> {
      if ((await find(signal)) !== query.vector.length) return []
      const vector = Array.from(query.vector, short)
      const asked = { query: vector, using: DENSE, ...paramsFor(quantisation) }
      const best = bestOf(query, (where) => points.query({ ...asked, ...where }, signal))
      return indexes.passOn(query, best)
    },
  }
}

/** Searching reads the small vectors alone where they are good enough: the document store's own decide in the end. */
function paramsFor(quantisation: Quantisation): Pick<PointQuery, 'params'> {
  if (quantisation === 'none') return {}
  if (quantisation === 'int8') return { params: { quantization: { rescore: false } } }
  return { params: { quantization: { rescore: true, oversampling: OVERSAMPLING } } }
}
