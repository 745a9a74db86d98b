import type { VariableValues } from '@agent-server/lib/variable-types.ts'
import type { ChunkIndexDriver, IndexContext } from '@agent-server/search'
import type { QdrantIndexOptions } from './qdrant-index.ts'
import { labels, variables } from './variables.ts'

type Settings = VariableValues<typeof variables>

/** An index in a Qdrant that any number of servers can share. Its program is loaded when it is used. */
export const qdrant: ChunkIndexDriver<typeof variables> = {
  name: 'Qdrant',
  variables,
  labels,
  address: 'QDRANT_URL',
  check({ QDRANT_REPLICAS: copies = '1', QDRANT_WRITE_CONSISTENCY: awaited = '1' }) {
    if (Number(awaited) <= Number(copies)) return []
    return [{ field: 'QDRANT_WRITE_CONSISTENCY', message: 'must not be more than QDRANT_REPLICAS' }]
  },
  service: {
    name: 'qdrant',
    key: { variable: 'QDRANT_API_KEY', setting: 'QDRANT__SERVICE__API_KEY' },
  },

  async create(settings, context) {
    const { createQdrantIndex } = await import('./qdrant-index.ts')
    return createQdrantIndex(await optionsFrom(settings, context))
  },
  async createNext(settings, context, signal) {
    const { createNextIndex } = await import('./qdrant-index.ts')
    return createNextIndex(await optionsFrom(settings, context), signal)
  },
}

async function optionsFrom(
  settings: Settings,
  { analyser, source, log }: IndexContext,
): Promise<QdrantIndexOptions> {
  return {
    address: {
      url: settings.QDRANT_URL ?? '',
      apiKey: settings.QDRANT_API_KEY,
      deadlineMs: settings.QDRANT_TIMEOUT * 1_000,
    },
    prefix: settings.QDRANT_COLLECTION,
    settings: {
      shards: settings.QDRANT_SHARDS,
      replicas: settings.QDRANT_REPLICAS,
      writeConsistency: settings.QDRANT_WRITE_CONSISTENCY,
      quantisation: settings.QDRANT_QUANTIZATION,
      vectorsMemory: settings.QDRANT_VECTORS_MEMORY,
      termsMemory: settings.QDRANT_TERMS_MEMORY,
      filtersMemory: settings.QDRANT_FILTERS_MEMORY,
    },
    fingerprint: analyser,
    vectorFingerprint: String(await source.vectorsGeneration()),
    source,
    log,
  }
}
