import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createNextIndex, createQdrantIndex } from '../indexes/qdrant/create-qdrant-index.ts'
import { createPreparer } from '../services/ingestion/create-preparer.ts'
import { type FillingStore, replaceIndex } from '../services/ingestion/replace-index.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { qdrantOptions } from './chunk-index.ts'

/** Splitting and analysing what is read; the largest batches take seconds. */
const PREPARATION_MILLISECONDS = 60_000

type Store = FillingStore & Pick<DocumentStore, 'vectorsGeneration' | 'embedding'>
type Progress = (done: number, total: number) => void

interface Settings extends Config {
  QDRANT_URL: string
}

/** Makes the index in Qdrant anew from the authority that is configured. */
export async function rebuildIndex(
  config: Settings,
  log: FastifyBaseLogger,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const store = await createSqliteStore({
    directory: config.DATA_DIR,
    queueLimit: config.INGEST_QUEUE_LIMIT,
    onCrash: (error) => log.error({ err: error }, 'the document store has failed'),
    log,
  })
  try {
    await fillIndex(config, store, log, progress, signal)
  } finally {
    await store.close()
  }
}

/** Makes the index in Qdrant anew from an authority, beside the one that serves, and puts it in its place. */
export async function fillIndex(
  config: Settings,
  store: Store,
  log: FastifyBaseLogger,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const options = await qdrantOptions(config, config.QDRANT_URL, store)
  const next = await createNextIndex(options, signal)
  const preparer = createPreparer({
    language: config.SEARCH_LANGUAGE,
    deadlineMilliseconds: PREPARATION_MILLISECONDS,
    log,
  })
  try {
    await next.index.open(signal)
    const served = createQdrantIndex(options)
    await replaceIndex(
      {
        ...{ store, preparer, log, progress },
        hybrid: (await store.embedding()) !== undefined,
        next: next.index,
        async serve() {
          await next.serve()
          await served.open(signal)
          return served
        },
      },
      signal,
    )
  } finally {
    await preparer.close()
  }
}
