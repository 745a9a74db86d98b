import type { Index } from 'usearch'

/**
 * HNSW parameters (Malkov and Yashunin, https://arxiv.org/abs/1603.09320): links per vector, and the number of
 * candidates kept while adding and while searching. Measured in docs/internals/retrieval.md.
 */
const LINKS = 16
const ADD_CANDIDATES = 128
const SEARCH_CANDIDATES = 128
/** Use only the calling thread, which is already a worker thread. */
const THREADS = 1

export type VectorGraph = Awaited<ReturnType<typeof openGraph>>

/** An HNSW graph of 8-bit vectors, read from a file if there is one. Throws if usearch has no build for this machine. */
export async function openGraph(dimensions: number, path?: string) {
  const { Index: Graph, MetricKind, ScalarKind } = await import('usearch')
  const index: Index = new Graph({
    dimensions,
    metric: MetricKind.Cos,
    quantization: ScalarKind.I8,
    multi: false,
    connectivity: LINKS,
    expansion_add: ADD_CANDIDATES,
    expansion_search: SEARCH_CANDIDATES,
  })
  if (path !== undefined) index.load(path)
  return {
    size: () => index.size(),
    dimensions: () => index.dimensions(),
    /** The keys must be new. */
    add: (keys: Uint32Array, values: Float32Array) =>
      index.add(BigUint64Array.from(keys, BigInt), values, THREADS),
    remove(keys: readonly number[]): void {
      if (keys.length > 0) index.remove(keys.map(BigInt))
    },
    /** The keys of the nearest, best first; may miss vectors that nearly equal many others. */
    search: (vector: Float32Array, limit: number): Uint32Array =>
      Uint32Array.from(index.search(vector, limit, THREADS).keys, Number),
    /** Writes a file that is faster to read than adding all vectors again. */
    save: (to: string) => index.save(to),
  }
}
