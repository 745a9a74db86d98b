import { join } from 'node:path'
import type { ChunkIndex, IndexSource } from '@agent-server/search'
import { createAnalyser, createEmbeddedIndex } from '@agent-server/search'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { QdrantIndexOptions } from '../indexes/qdrant/qdrant-index.ts'
import type { DocumentStore } from '../stores/document-store.ts'

type Store = IndexSource & Pick<DocumentStore, 'identity' | 'vectorsGeneration'>

/**
 * The index that is configured: in Qdrant, or in this process and in `DATA_DIR`. It is not opened yet.
 */
export async function openChunkIndex(
  config: Config,
  store: Store,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
): Promise<ChunkIndex> {
  if (config.QDRANT_URL !== undefined) {
    const { createQdrantIndex } = await import('../indexes/qdrant/qdrant-index.ts')
    return createQdrantIndex(await qdrantOptions(config, config.QDRANT_URL, { store, log }))
  }
  return createEmbeddedIndex({
    directory: join(config.DATA_DIR, 'index'),
    ...(await embeddedFingerprints(config, store)),
    source: store,
    onCrash: onFatal,
    log,
  })
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
  parts: { store: IndexSource & Pick<Store, 'vectorsGeneration'>; log: FastifyBaseLogger },
): Promise<QdrantIndexOptions> {
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
    fingerprint: createAnalyser(config.SEARCH_LANGUAGE).fingerprint,
    vectorFingerprint: String(await parts.store.vectorsGeneration()),
    source: parts.store,
    log: parts.log,
  }
}
