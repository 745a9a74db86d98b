import type { Index, Matches, MetricKind, ScalarKind } from 'usearch'
import type { Ranking } from '../chunk-index.ts'
import type { VectorIndex, VectorIndexKind } from './scan.ts'
import { createTopHits } from './top-hits.ts'

/**
 * HNSW (Malkov and Yashunin, https://arxiv.org/abs/1603.09320): links per vector, and how many candidates
 * are kept while adding and while searching. Measured in docs/retrieval-quality.md.
 */
const LINKS = 16
const ADD_CANDIDATES = 128
const SEARCH_CANDIDATES = 128
/** The thread that works here is one already. */
const THREADS = 1
/** How much deeper each further look for chunks that pass a filter goes, and where looking ends. */
const DEEPER = 4
const MAX_LOOKED_AT = 6_400

type Library = typeof import('usearch')

/** A graph of vectors of 8-bit numbers. Throws where usearch has no build for the machine. */
export async function loadGraphVectors(): Promise<VectorIndexKind> {
  const library = await import('usearch')
  return {
    create: (dimension) => wrap(open(library, dimension), dimension, new Set()),
    load(path, dimension, keys) {
      const index = open(library, dimension)
      index.load(path)
      if (index.dimensions() !== dimension || index.size() !== keys.length) {
        throw new Error('the file holds other vectors')
      }
      return wrap(index, dimension, new Set(keys))
    },
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

function rank({ keys, distances }: Matches, limit: number, allowed: ReadonlySet<number>) {
  const hits = createTopHits(limit)
  keys.forEach((key, i) => {
    if (allowed.has(Number(key))) hits.offer(Number(key), 1 - (distances[i] ?? 1))
  })
  return hits.take()
}

/**
 * A walk through the graph may miss vectors that nearly equal many others. Where it found fewer than there
 * are, the rest follows as if as far as the farthest: whoever asked for all compares them exactly.
 */
function fillUp({ keys, scores }: Ranking, limit: number, held: ReadonlySet<number>): Ranking {
  const known = new Set(keys)
  const missing = [...held].filter((key) => !known.has(key)).slice(0, limit - keys.length)
  const least = scores.at(-1) ?? 0
  return {
    keys: Uint32Array.of(...keys, ...missing),
    scores: Float64Array.of(...scores, ...missing.map(() => least)),
  }
}

/** The library lists no keys, so they are kept beside it. */
function wrap(index: Index, dimension: number, held: Set<number>): VectorIndex {
  const remove = (keys: Iterable<number>) => {
    const known = [...new Set(keys)].filter((key) => held.delete(key))
    if (known.length > 0) index.remove(known.map(BigInt))
    return known.length
  }
  return {
    dimension,
    get size() {
      return held.size
    },
    add(keys, values) {
      remove(keys)
      index.add(BigUint64Array.from(keys, BigInt), values, THREADS)
      for (const key of keys) held.add(key)
    },
    remove,
    nearest({ vector, limit, only }) {
      const allowed = only && new Set(only)
      // A new one each time: its arrays are handed away.
      let found: Ranking = { keys: new Uint32Array(), scores: new Float64Array() }
      // The graph knows no filter, so it is asked for more until enough of them pass.
      for (let wanted = limit; held.size > 0; wanted *= DEEPER) {
        const most = Math.min(wanted, held.size)
        found = rank(index.search(vector, most, THREADS), limit, allowed ?? held)
        if (found.keys.length >= limit || most === held.size || wanted >= MAX_LOOKED_AT) break
      }
      return found.keys.length < Math.min(limit, held.size) && !only
        ? fillUp(found, limit, held)
        : found
    },
    keys: () => Uint32Array.from(held).sort(),
    save: (path) => index.save(path),
  }
}
