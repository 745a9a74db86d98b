import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createAnalyser } from '../indexes/analyser/analyser.ts'
import type { ChunkIndex } from '../indexes/chunk-index.ts'
import { createEmbeddedIndex } from '../indexes/embedded/embedded-index.ts'
import {
  createNextIndex,
  createQdrantIndex,
  type QdrantIndexOptions,
} from '../indexes/qdrant/qdrant-index.ts'
import { completeIndex, type Filling, replaceIndex } from '../services/ingestion/index-sync.ts'
import { measureLength } from '../services/ingestion/measure-length.ts'
import { createPreparer } from '../services/ingestion/preparer.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import { openStore } from './stores.ts'

type Store = Pick<DocumentStore, 'identity' | 'vectorsGeneration' | 'chunkKeys' | 'readChunks'>

interface OpenedIndex {
  index: ChunkIndex
  /** To be awaited before the index is used. Throws `index_unavailable` where it may be tried again. */
  open(signal: AbortSignal): Promise<void>
  /** Other servers may change it, too. */
  shared: boolean
}

/** The index that is configured: in Qdrant, or in this process and in `DATA_DIR`. */
export async function openChunkIndex(
  config: Config,
  store: Store,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
): Promise<OpenedIndex> {
  if (config.QDRANT_URL !== undefined) {
    const index = createQdrantIndex(await qdrantOptions(config, config.QDRANT_URL, store))
    return { index, open: index.open, shared: true }
  }
  const index = await createEmbeddedIndex({
    directory: join(config.DATA_DIR, 'index'),
    ...(await embeddedFingerprints(config, store)),
    onCrash: onFatal,
    log,
  })
  return { index, open: async () => undefined, shared: false }
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

async function qdrantOptions(
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
      writeConsistency: config.QDRANT_WRITE_CONSISTENCY ?? config.QDRANT_REPLICAS,
      quantisation: config.QDRANT_QUANTIZATION,
      vectorsMemory: config.QDRANT_VECTORS_MEMORY,
      termsMemory: config.QDRANT_TERMS_MEMORY,
      filtersMemory: config.QDRANT_FILTERS_MEMORY,
    },
    fingerprint: analyser.fingerprint,
    vectorFingerprint: String(await store.vectorsGeneration()),
    averageLength: () => measureLength({ store, analyser }),
  }
}

/** Splitting and analysing what is read; the largest batches take seconds. */
const PREPARATION_MS = 60_000

interface Task {
  config: Config & { QDRANT_URL: string }
  log: FastifyBaseLogger
  progress: (done: number, total: number) => void
}

/** Makes the index in Qdrant anew from the document store, beside the one that serves, and puts it in its place. */
export async function rebuildIndex(task: Task, signal: AbortSignal): Promise<void> {
  await withAuthority(task, async (filling, options) => {
    const next = await createNextIndex(options, signal)
    await next.index.open(signal)
    const serve = async () => {
      await next.serve()
      const served = createQdrantIndex(options)
      await served.open(signal)
      return served
    }
    await replaceIndex({ ...filling, next: next.index, serve }, signal)
  })
}

/** Adds to the index in Qdrant what it lacks of the document store, and makes it where there is none. */
export async function fillIndex(task: Task, signal: AbortSignal): Promise<void> {
  await withAuthority(task, async (filling, options) => {
    const served = createQdrantIndex(options)
    await served.open(signal)
    await completeIndex(served, filling, signal)
  })
}

/** Opens the document store that is configured, and closes it when the work is done. */
async function withAuthority(
  { config, log, progress }: Task,
  work: (filling: Filling, options: QdrantIndexOptions) => Promise<void>,
): Promise<void> {
  const store = await openStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  const preparer = createPreparer({
    language: config.SEARCH_LANGUAGE,
    deadlineMs: PREPARATION_MS,
    log,
  })
  try {
    const hybrid = (await store.embedding()) !== undefined
    const options = await qdrantOptions(config, config.QDRANT_URL, store)
    await work({ store, preparer, hybrid, progress, log }, options)
  } finally {
    await preparer.close()
    await store.close()
  }
}
