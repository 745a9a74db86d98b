import {
  createQdrantIndex,
  type QdrantIndex,
  type QdrantIndexOptions,
} from '../../../src/indexes/qdrant/qdrant-index.ts'
import type { TermBatch } from '../../../src/indexes/term-batch.ts'

export const SETTINGS: QdrantIndexOptions['settings'] = {
  shards: 1,
  replicas: 1,
  writeConsistency: 1,
  quantisation: 'int8',
  vectorsMemory: 'cold',
  termsMemory: 'cached',
  filtersMemory: 'cached',
}

const AVERAGE_LENGTH = 4

export function qdrantOptionsAt(url: string): QdrantIndexOptions {
  return {
    address: { url, deadlineMs: 20_000 },
    prefix: 'test',
    settings: SETTINGS,
    fingerprint: 'english-1',
    vectorFingerprint: 'model-1',
    averageLength: async () => AVERAGE_LENGTH,
    statistics: countedStatistics(),
  }
}

/** An index at an address, not opened yet; everything else is as usual unless it is said. What it is given is counted, as a document store would. */
export function qdrantIndexAt(url: string, more: Partial<QdrantIndexOptions> = {}): QdrantIndex {
  const counted = countedStatistics()
  const index = createQdrantIndex({ ...qdrantOptionsAt(url), statistics: counted, ...more })
  return {
    ...index,
    add(keys, batch, metadata) {
      counted.add(keys, batch)
      return index.add(keys, batch, metadata)
    },
    remove(keys) {
      counted.remove(keys)
      return index.remove(keys)
    },
  }
}

/** What a document store says of these chunks. */
export function countedStatistics() {
  const counted = new Map<number, { length: number; terms: Set<number> }>()
  const holders = new Map<number, number>()
  let length = 0
  const enter = (chunk: { length: number; terms: Set<number> } | undefined, sign: number) => {
    length += sign * (chunk?.length ?? 0)
    for (const term of chunk?.terms ?? []) holders.set(term, (holders.get(term) ?? 0) + sign)
  }
  return {
    add(keys: Uint32Array, { lengths, offsets, terms }: TermBatch) {
      keys.forEach((key, i) => {
        const own = new Set(terms.subarray(offsets[i], offsets[i + 1]))
        enter(counted.get(key), -1)
        counted.set(key, { length: lengths[i] ?? 0, terms: own })
        enter(counted.get(key), 1)
      })
    },
    remove(keys: readonly number[]) {
      for (const key of keys) {
        enter(counted.get(key), -1)
        counted.delete(key)
      }
    },
    chunks: () => counted.size,
    length: () => length,
    holding: (term: number) => holders.get(term) ?? 0,
  }
}
