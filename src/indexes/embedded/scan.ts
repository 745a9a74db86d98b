import type { NearestQuery, Ranking } from '../chunk-index.ts'
import { createTopHits } from '../top-hits.ts'
import type { QuantisedVectors } from './quantised-vectors.ts'

/** What is nearest among vectors that are kept elsewhere. */
export interface VectorSearch {
  /** Called before the vectors are set, those of keys that are held already included; absent where there is nothing to do. */
  add?(keys: Uint32Array, values: Float32Array): void
  /** Called before they are deleted, with keys that are held. */
  remove?(keys: readonly number[]): void
  nearest(query: NearestQuery): Ranking
  /** Writes what can be read again with less work than adding; absent where there is no such thing. */
  save?(path: string): void
}

/** Makes a search among `vectors`, which are none yet or, with `path`, those of which `save` wrote that file. */
export type VectorSearchKind = (vectors: QuantisedVectors, path?: string) => VectorSearch

/** Looks at every vector: needs nothing but JavaScript, and takes about 40 ms for 100,000 of 384 numbers. */
export const scanVectors: VectorSearchKind = (vectors) => ({
  nearest({ vector, limit, only }) {
    const hits = createTopHits(limit)
    for (const key of only ?? vectors.keys()) {
      const cosine = vectors.cosine(key, vector)
      if (cosine !== undefined) hits.offer(key, cosine)
    }
    return hits.take()
  },
})
