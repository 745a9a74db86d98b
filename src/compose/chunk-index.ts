import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createAnalyser } from '../indexes/analyser/analyser.ts'
import { createEmbeddedIndex } from '../indexes/embedded/embedded-index.ts'
import type { QdrantIndexOptions } from '../indexes/qdrant/qdrant-index.ts'
import type { Preparer } from '../services/ingestion/preparer.ts'
import { createTermStatistics, type TermStatistics } from '../services/ingestion/term-statistics.ts'
import type { DocumentStore } from '../stores/document-store.ts'

type Store = Pick<DocumentStore, 'identity' | 'vectorsGeneration' | 'terms' | 'listChunks'>

/**
 * The index that is configured: in Qdrant, which other servers may change, too (`shared`), or in this process and in
 * `DATA_DIR`. Await `open` before using it; it throws `index_unavailable` if it may be tried again.
 */
export async function openChunkIndex(
  config: Config,
  store: Store,
  preparer: Pick<Preparer, 'analyse'>,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
) {
  if (config.QDRANT_URL !== undefined) {
    const { createQdrantIndex } = await import('../indexes/qdrant/qdrant-index.ts')
    const options = await qdrantOptions(config, config.QDRANT_URL, { store, preparer, log })
    const index = createQdrantIndex(options)
    const { statistics } = options
    const open = async (signal?: AbortSignal) => {
      await statistics.refresh()
      return index.open(signal)
    }
    return { index, open, lost: index.lost, shared: true, statistics }
  }
  const index = createEmbeddedIndex({
    directory: join(config.DATA_DIR, 'index'),
    ...(await embeddedFingerprints(config, store)),
    onCrash: onFatal,
    log,
  })
  return {
    index,
    open: async () => false,
    lost: async () => undefined,
    shared: false,
    statistics: undefined,
  }
}

/**
 * Fingerprints of the data and settings that an index on disk must have been built from. They include the store's
 * identity, because another database may use the same keys.
 */
export async function embeddedFingerprints(
  { SEARCH_LANGUAGE }: Pick<Config, 'SEARCH_LANGUAGE'>,
  store: Pick<Store, 'identity' | 'vectorsGeneration'>,
) {
  const identity = await store.identity()
  return {
    fingerprint: `${createAnalyser(SEARCH_LANGUAGE).fingerprint} of ${identity}`,
    vectorFingerprint: `${await store.vectorsGeneration()} of ${identity}`,
  }
}

/** Options for the index of this store in Qdrant. */
export async function qdrantOptions(
  config: Config,
  url: string,
  parts: { store: Store; preparer: Pick<Preparer, 'analyse'>; log: FastifyBaseLogger },
): Promise<QdrantIndexOptions & { statistics: TermStatistics }> {
  const { fingerprint: analyser } = createAnalyser(config.SEARCH_LANGUAGE)
  const statistics = createTermStatistics({ ...parts, analyser })
  return {
    address: {
      url,
      apiKey: config.QDRANT_API_KEY,
      deadlineMs: config.QDRANT_TIMEOUT * 1_000,
    },
    prefix: config.QDRANT_COLLECTION,
    settings: {
      shards: config.QDRANT_SHARDS,
      replicas: config.QDRANT_REPLICAS,
      writeConsistency: config.QDRANT_WRITE_CONSISTENCY,
      quantisation: config.QDRANT_QUANTIZATION,
      vectorsMemory: config.QDRANT_VECTORS_MEMORY,
      termsMemory: config.QDRANT_TERMS_MEMORY,
      filtersMemory: config.QDRANT_FILTERS_MEMORY,
    },
    fingerprint: analyser,
    vectorFingerprint: String(await parts.store.vectorsGeneration()),
    ...{ statistics, log: parts.log },
    async averageLength(signal = new AbortController().signal) {
      await statistics.complete(signal)
      return statistics.meanLength()
    },
  }
}
