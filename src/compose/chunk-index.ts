import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createAnalyser } from '../indexes/analyser/analyser.ts'
import { createEmbeddedIndex } from '../indexes/embedded/embedded-index.ts'
import type { QdrantIndexOptions } from '../indexes/qdrant/qdrant-index.ts'
import { measureLength } from '../services/ingestion/replace-index.ts'
import type { DocumentStore } from '../stores/document-store.ts'

type Store = Pick<DocumentStore, 'identity' | 'vectorsGeneration' | 'chunkKeys' | 'readChunks'>

/**
 * The index that is configured: in Qdrant, which other servers may change, too (`shared`), or in this process
 * and in `DATA_DIR`. `open` is to be awaited before it is used; throws `index_unavailable` where it may be tried again.
 */
export async function openChunkIndex(
  config: Config,
  store: Store,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
) {
  if (config.QDRANT_URL !== undefined) {
    const { createQdrantIndex } = await import('../indexes/qdrant/qdrant-index.ts')
    const index = createQdrantIndex({
      ...(await qdrantOptions(config, config.QDRANT_URL, store)),
      log,
    })
    return { index, open: index.open, lost: index.lost, shared: true }
  }
  const index = await createEmbeddedIndex({
    directory: join(config.DATA_DIR, 'index'),
    ...(await embeddedFingerprints(config, store)),
    onCrash: onFatal,
    log,
  })
  return { index, open: async () => false, lost: async () => undefined, shared: false }
}

/** What an index on the disk must have been made of and with: another database may give out the same keys. */
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

/** How Qdrant holds the index of this store. */
export async function qdrantOptions(
  config: Config,
  url: string,
  store: Store,
): Promise<QdrantIndexOptions> {
  const analyser = createAnalyser(config.SEARCH_LANGUAGE)
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
    fingerprint: analyser.fingerprint,
    vectorFingerprint: String(await store.vectorsGeneration()),
    averageLength: () => measureLength(store, analyser),
  }
}
