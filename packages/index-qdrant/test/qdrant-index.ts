import type { ChunkIndex } from '@agent-server/search'
import { createSource } from '../../search/test/contracts/chunk-index.fixture.ts'
import { createQdrantIndex, type QdrantIndexOptions } from '../src/qdrant-index.ts'

export const SETTINGS: QdrantIndexOptions['settings'] = {
  shards: 1,
  replicas: 1,
  writeConsistency: 1,
  quantisation: 'int8',
  vectorsMemory: 'cold',
  termsMemory: 'cached',
  filtersMemory: 'cached',
}

export function qdrantOptionsAt(url: string): QdrantIndexOptions {
  return {
    address: { url, deadlineMs: 20_000 },
    prefix: 'test',
    settings: SETTINGS,
    fingerprint: 'english-1',
    vectorFingerprint: 'model-1',
    source: createSource(),
  }
}

/** An index at an address, not opened yet; everything else is as usual unless it is said. */
export function qdrantIndexAt(url: string, more: Partial<QdrantIndexOptions> = {}): ChunkIndex {
  return createQdrantIndex({ ...qdrantOptionsAt(url), ...more })
}
