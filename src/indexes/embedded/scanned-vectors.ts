import type { NearestQuery } from '../chunk-index.ts'
import { createTopHits } from './score.ts'
import type { VectorIndexKind } from './vector-index.ts'

/** Rows are allocated in blocks, so that growing copies nothing. */
const ROWS_PER_BLOCK = 1_024

/** Looks at every vector: exact, needs nothing but JavaScript, and takes about 40 ms for 100,000 of 384 numbers. */
export const SCANNED_VECTORS: VectorIndexKind = { create: createScannedVectors, load: undefined }

function createScannedVectors(dimension: number) {
  const blocks: Float32Array[] = []
  const rowOf = new Map<number, number>()
  const free: number[] = []
  let rows = 0

  const viewRow = (row: number): Float32Array => {
    const block = Math.floor(row / ROWS_PER_BLOCK)
    blocks[block] ??= new Float32Array(ROWS_PER_BLOCK * dimension)
    const start = (row % ROWS_PER_BLOCK) * dimension
    return blocks[block].subarray(start, start + dimension)
  }

  return {
    search: 'scan' as const,
    dimension,
    get size() {
      return rowOf.size
    },
    get bytes() {
      return blocks.length * ROWS_PER_BLOCK * dimension * Float32Array.BYTES_PER_ELEMENT
    },
    add(keys: Uint32Array, values: Float32Array) {
      for (const [position, key] of keys.entries()) {
        const row = rowOf.get(key) ?? free.pop() ?? rows++
        viewRow(row).set(values.subarray(position * dimension, (position + 1) * dimension))
        rowOf.set(key, row)
      }
    },
    remove(keys: Iterable<number>) {
      let removed = 0
      for (const key of keys) {
        const row = rowOf.get(key)
        if (row === undefined) continue
        rowOf.delete(key)
        free.push(row)
        removed++
      }
      return removed
    },
    nearest({ vector, limit, only }: NearestQuery) {
      const hits = createTopHits(limit)
      for (const key of only ?? rowOf.keys()) {
        const row = rowOf.get(key)
        if (row !== undefined) hits.offer(key, dot(viewRow(row), vector))
      }
      return hits.take()
    },
    keys: () => Uint32Array.from(rowOf.keys()).sort(),
    save: undefined,
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
