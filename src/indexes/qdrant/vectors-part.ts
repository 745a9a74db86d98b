import type { IndexMatch, NearestQuery, VectorBatch } from '../chunk-index.ts'
import { batched } from './batched.ts'
import { bestOf } from './best-of.ts'
import { MEANING } from './collection-layout.ts'
import type { Point, Points } from './points.ts'
import type { Quantisation } from './qdrant-settings.ts'
import { short } from './weigh-terms.ts'

/** Numbers in one request, which makes some four megabytes. */
const BATCH_NUMBERS = 400_000
/** How many times as many candidates the smallest vectors need to hold the best. */
const OVERSAMPLING = 2

/** Puts vectors into a collection of their dimension. */
export function putVectors(points: Points, batch: VectorBatch): Promise<void> {
  const size = Math.max(1, Math.floor(BATCH_NUMBERS / batch.dimension))
  return points.put(batched(pointsOf(batch), size))
}

/** Looks for what is near by the small vectors: the authority's own decide in the end. */
export function findNearest(
  points: Points,
  quantisation: Quantisation,
  query: NearestQuery,
  signal?: AbortSignal,
): Promise<IndexMatch[]> {
  const vector = Array.from(query.vector, short)
  const rescored =
    quantisation === 'turbo4' ? { rescore: true, oversampling: OVERSAMPLING } : { rescore: false }
  const params = quantisation !== 'none' && { params: { quantization: rescored } }
  return bestOf(query, (filter, limit) =>
    points.query(
      { query: vector, using: MEANING, limit, ...params, ...(filter && { filter }) },
      signal,
    ),
  )
}

function* pointsOf({ keys, dimension, values }: VectorBatch): Generator<Point> {
  const last = new Map(Array.from(keys, (key, place) => [key, place]))
  for (const [id, place] of last) {
    const vector = values.subarray(place * dimension, (place + 1) * dimension)
    yield { id, vector: { [MEANING]: Array.from(vector, short) } }
  }
}
