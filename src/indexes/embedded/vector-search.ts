import type { Index, Matches, MetricKind, ScalarKind } from 'usearch'
import type { NearestQuery, Ranking } from '../chunk-index.ts'
import { createTopHits } from '../ranking.ts'
import type { QuantisedVectors } from './quantised-vectors.ts'

/** Nearest-neighbour search among vectors that are stored elsewhere. */
export interface VectorSearch {
  /** Called before vectors are added or replaced; absent if there is nothing to do. */
  add?(keys: Uint32Array, values: Float32Array): void
  /** Called before vectors are deleted; all keys must exist. */
  remove?(keys: readonly number[]): void
  nearest(query: NearestQuery): Ranking
  /** Writes a file that is faster to load than adding all vectors again; absent if there is none. */
  save?(path: string): void
}

/** Creates a search among `vectors`, which must be empty or, with `path`, those for which `save` wrote that file. */
export type VectorSearchKind = (vectors: QuantisedVectors, path?: string) => VectorSearch

/** Brute-force search in plain JavaScript: takes about 40 ms for 100,000 vectors of dimension 384. */
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

/**
 * HNSW parameters (Malkov and Yashunin, https://arxiv.org/abs/1603.09320): links per vector, and the number of
 * candidates kept while adding and while searching. Measured in docs/retrieval-quality.md.
 */
const LINKS = 16
const ADD_CANDIDATES = 128
const SEARCH_CANDIDATES = 128
/** Use only the calling thread, which is already a worker thread. */
const THREADS = 1
/** Factor by which the search is widened until enough chunks pass a filter, and the limit at which it stops. */
const DEEPER = 4
const MAX_LOOKED_AT = 6_400

type Library = typeof import('usearch')

/** An HNSW graph of 8-bit vectors. Throws if usearch has no build for this machine. */
export async function loadGraphSearch(): Promise<VectorSearchKind> {
  const library = await import('usearch')
  return (vectors, path) => {
    const index = open(library, vectors.dimension)
    if (path !== undefined) {
      index.load(path)
      if (index.dimensions() !== vectors.dimension || index.size() !== vectors.size) {
        throw new Error('the file holds other vectors')
      }
    }
    return wrap(index, vectors)
  }
}

function open({ Index, MetricKind: metrics, ScalarKind: scalars }: Library, dimensions: number) {
  const metric: MetricKind = metrics.Cos
  const quantization: ScalarKind = scalars.I8
  return new Index({
    ...{ dimensions, metric, quantization, multi: false },
    connectivity: LINKS,
    expansion_add: ADD_CANDIDATES,
    expansion_search: SEARCH_CANDIDATES,
  })
}

function rank({ keys, distances }: Matches, limit: number, isAllowed: (key: number) => boolean) {
  const hits = createTopHits(limit)
  keys.forEach((key, i) => {
    if (isAllowed(Number(key))) hits.offer(Number(key), 1 - (distances[i] ?? 1))
  })
  return hits.take()
}

/**
 * A graph search may miss vectors that nearly equal many others. If it found too few, other vectors are appended with
 * the lowest score found: a caller that asks for all of them compares them exactly.
 */
function fillUp({ keys, scores }: Ranking, limit: number, held: Uint32Array): Ranking {
  const known = new Set(keys)
  const missing = held.filter((key) => !known.has(key)).subarray(0, limit - keys.length)
  const least = scores.at(-1) ?? 0
  return {
    keys: Uint32Array.of(...keys, ...missing),
    scores: Float64Array.of(...scores, ...Array.from(missing, () => least)),
  }
}

function wrap(index: Index, vectors: QuantisedVectors): VectorSearch {
  const remove = (keys: readonly number[]) => {
    if (keys.length > 0) index.remove(keys.map(BigInt))
  }
  return {
    add(keys, values) {
      remove([...keys].filter(vectors.has))
      index.add(BigUint64Array.from(keys, BigInt), values, THREADS)
    },
    remove,
    nearest({ vector, limit, only }) {
      const allowed = only && new Set(only)
      const isAllowed = (key: number) => (allowed ? allowed.has(key) : vectors.has(key))
      // New arrays each time, since they are transferred to another thread.
      let found: Ranking = { keys: new Uint32Array(), scores: new Float64Array() }
      // The graph does not support filters, so more are requested until enough pass.
      for (let wanted = limit; vectors.size > 0; wanted *= DEEPER) {
        const most = Math.min(wanted, vectors.size)
        found = rank(index.search(vector, most, THREADS), limit, isAllowed)
        if (found.keys.length >= limit || most === vectors.size || wanted >= MAX_LOOKED_AT) break
      }
      return found.keys.length < Math.min(limit, vectors.size) && !only
        ? fillUp(found, limit, vectors.keys())
        : found
    },
    save: (path) => index.save(path),
  }
}
