import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import {
  createNextIndex,
  createQdrantIndex,
  type QdrantIndexOptions,
} from '../indexes/qdrant/create-qdrant-index.ts'
import { createPreparer } from '../services/ingestion/create-preparer.ts'
import { completeIndex, type Filling, replaceIndex } from '../services/ingestion/replace-index.ts'
import { qdrantOptions } from './chunk-index.ts'
import { openStore } from './open-store.ts'

/** Splitting and analysing what is read; the largest batches take seconds. */
const PREPARATION_MILLISECONDS = 60_000

interface Task {
  config: Config & { QDRANT_URL: string }
  log: FastifyBaseLogger
  progress: (done: number, total: number) => void
}

/** Makes the index in Qdrant anew from the authority, beside the one that serves, and puts it in its place. */
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

/** Adds to the index in Qdrant what it lacks of the authority, and makes it where there is none. */
export async function fillIndex(task: Task, signal: AbortSignal): Promise<void> {
  await withAuthority(task, async (filling, options) => {
    const served = createQdrantIndex(options)
    await served.open(signal)
    await completeIndex(served, filling, signal)
  })
}

/** Opens the authority that is configured, and closes it when the work is done. */
async function withAuthority(
  { config, log, progress }: Task,
  work: (filling: Filling, options: QdrantIndexOptions) => Promise<void>,
): Promise<void> {
  const store = await openStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  const preparer = createPreparer({
    language: config.SEARCH_LANGUAGE,
    deadlineMilliseconds: PREPARATION_MILLISECONDS,
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
