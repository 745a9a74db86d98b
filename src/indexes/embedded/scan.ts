import type { NearestQuery, Ranking } from '../chunk-index.ts'
import { createTopHits } from './top-hits.ts'

/** Vectors of one dimension by key, in memory. */
export interface VectorIndex {
  readonly dimension: number
  readonly size: number
  /** Adds unit vectors, one after another; those of keys that are here already are replaced. */
  add(keys: Uint32Array, values: Float32Array): void
  /** Answers how many there were. */
  remove(keys: Iterable<number>): number
  nearest(query: NearestQuery): Ranking
  /** Ascending. */
  keys(): Uint32Array<ArrayBuffer>
  /** Writes what can be read again with less work than adding; absent where there is no such thing. */
  save?(path: string): void
}

/** Makes an index, or reads one that `save` wrote and that holds `keys`. */
export interface VectorIndexKind {
  create(dimension: number): VectorIndex
  load?(path: string, dimension: number, keys: Uint32Array): VectorIndex
}

/** Looks at every vector: exact, needs nothing but JavaScript, and takes about 40 ms for 100,000 of 384 numbers. */
export const SCANNED_VECTORS: VectorIndexKind = {
  create(dimension) {
    const vectors = new Map<number, Float32Array>()

    return {
      dimension,
      get size() {
        return vectors.size
      },
      add(keys, values) {
        for (const [place, key] of keys.entries()) {
          vectors.set(key, values.slice(place * dimension, (place + 1) * dimension))
        }
      },
      remove(keys) {
        let removed = 0
        for (const key of keys) if (vectors.delete(key)) removed++
        return removed
      },
      nearest({ vector, limit, only }) {
        const hits = createTopHits(limit)
        for (const key of only ?? vectors.keys()) {
          const held = vectors.get(key)
          if (held) hits.offer(key, dot(held, vector))
        }
        return hits.take()
      },
      keys: () => Uint32Array.from(vectors.keys()).sort(),
    }
  },
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
