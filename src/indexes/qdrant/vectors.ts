import type { ChunkMetadata, IndexMatch, NearestQuery, VectorBatch } from '../chunk-index.ts'
import type { Quantisation } from '../qdrant-settings.ts'
import { MEANING } from './collections.ts'
import type { PayloadIndexes } from './filters.ts'
import { createPayloads, type PayloadOf } from './payload.ts'
import { batched, bestOf, type Point, type Points } from './points.ts'
import type { ServedCollections } from './served-collections.ts'
import { short } from './terms.ts'

/** Numbers in one request, which makes some four megabytes. */
const BATCH_NUMBERS = 400_000
/** How many times as many candidates the smallest vectors need to hold the best. */
const OVERSAMPLING = 2

/** The vectors of chunks. There is no collection before the first of them, whose dimension it has. */
export interface VectorsPart {
  /** Finds the collection, if there is one. Throws where it does not fit. */
  open(signal?: AbortSignal): Promise<void>
  add(batch: VectorBatch, metadata?: ChunkMetadata): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  nearest(query: NearestQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /** Whether `nearest` may filter by these keys of the payload. */
  filters(keys: readonly string[], signal?: AbortSignal): Promise<boolean>
  keys(): Promise<Uint32Array<ArrayBuffer>>
  count(): Promise<number>
}

export function createVectorsPart(
  points: Points,
  indexes: PayloadIndexes,
  served: Pick<ServedCollections, 'vectors' | 'makeVectors'>,
  quantisation: Quantisation,
): VectorsPart {
  let dimension: number | undefined

  /** Another server may have made it since. */
  const find = async (signal?: AbortSignal) => {
    dimension ??= (await served.vectors(signal))?.dimension
    return dimension
  }
  const count = async () => ((await find()) === undefined ? 0 : points.count())

  const readyFor = async (wanted: number) => {
    const held = await find()
    if (held === wanted) return
    if ((await count()) > 0) {
      throw new RangeError(`The index holds vectors of ${held}, not ${wanted}`)
    }
    await served.makeVectors(wanted)
    indexes.forget()
    dimension = wanted
  }

  return {
    count,
    async open(signal) {
      await find(signal)
    },
    async add(batch, metadata) {
      await readyFor(batch.dimension)
      await indexes.makeFor(metadata)
      const size = Math.max(1, Math.floor(BATCH_NUMBERS / batch.dimension))
      await points.put(batched(pointsOf(batch, createPayloads(metadata)), size))
    },
    async filters(keys, signal) {
      return (await find(signal)) === undefined || indexes.hold(keys, signal)
    },
    async remove(keys) {
      if ((await find()) !== undefined) await points.remove(keys)
    },
    async nearest(query, signal) {
      if ((await find(signal)) !== query.vector.length) return []
      const asked = {
        query: Array.from(query.vector, short),
        using: MEANING,
        ...lookingAt(quantisation),
      }
      const best = bestOf(query, (filter, limit) =>
        points.query({ ...asked, limit, ...(filter && { filter }) }, signal),
      )
      return indexes.passOn(query, best)
    },
    keys: async () => ((await find()) === undefined ? new Uint32Array() : points.keys()),
  }
}

/** Searching reads the small vectors alone where they tell enough: the document store's own decide in the end. */
function lookingAt(quantisation: Quantisation): object {
  if (quantisation === 'none') return {}
  if (quantisation === 'int8') return { params: { quantization: { rescore: false } } }
  return { params: { quantization: { rescore: true, oversampling: OVERSAMPLING } } }
}

function* pointsOf(
  { keys, dimension, values }: VectorBatch,
  payloadOf: PayloadOf,
): Generator<Point> {
  // Of a key given twice the last vector counts.
  const last = new Map(Array.from(keys, (key, place) => [key, place]))
  for (const [id, place] of last) {
    const vector = values.subarray(place * dimension, (place + 1) * dimension)
    yield { id, vector: { [MEANING]: Array.from(vector, short) }, payload: payloadOf(place) }
  }
}
