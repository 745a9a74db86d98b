import type { NearestQuery, Ranking, VectorSearch } from '../chunk-index.ts'

/** Vectors of one dimension by key, in memory. */
export interface VectorIndex {
  readonly search: VectorSearch
  readonly dimension: number
  readonly size: number
  /** Memory held, in bytes. */
  readonly bytes: number
  /** Adds unit vectors, one after another; those of keys that are here already are replaced. */
  add(keys: Uint32Array, values: Float32Array): void
  /** Answers how many there were. */
  remove(keys: Iterable<number>): number
  nearest(query: NearestQuery): Ranking
  /** Ascending. */
  keys(): Uint32Array<ArrayBuffer>
  /** Writes what can be read again with less work than adding; nothing where there is no such thing. */
  readonly save: ((path: string) => void) | undefined
}

/** Makes an index, or reads one that `save` wrote and that holds `keys`. */
export interface VectorIndexKind {
  create(dimension: number): VectorIndex
  load: ((path: string, dimension: number, keys: Uint32Array) => VectorIndex) | undefined
}
