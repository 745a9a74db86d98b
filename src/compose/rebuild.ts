import type { IndexContext } from '@agent-server/search'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { reEmbed } from '../documents/embedding/re-embed.ts'
import {
  completeIndex,
  type Replacement,
  replaceIndex,
} from '../documents/ingestion/replace-index.ts'
import { indexDriver } from '../features.ts'
import { indexContext } from './chunk-index.ts'
import { openPreparer } from './knowledge.ts'
import { createEmbedder, embeddingModel } from './models.ts'
import { withStore } from './stores.ts'

type Progress = (done: number, total: number) => void

interface Task {
  config: Config
  log: FastifyBaseLogger
  progress: Progress
}

/** Rebuilds a shared index from the document store, beside the one in use, then replaces that one. */
export async function rebuildIndex(task: Task, signal: AbortSignal): Promise<void> {
  const { config } = task
  const driver = indexDriver(config)
  await fillFromStore(task, async (filling, context) => {
    const next = await driver.createNext?.(config, context, signal)
    if (!next) throw new Error(`The ${driver.name} is rebuilt at the start`)
    await next.index.open(signal)
    const serve = async () => {
      await next.serve()
      const served = await driver.create(config, context)
      await served.open(signal)
      return served
    }
    const { index, drop } = next
    await replaceIndex({ ...filling, next: index, serve, drop }, signal)
  })
}

/** Adds the chunks of the document store that a shared index lacks; creates the index if there is none. */
export async function fillIndex(task: Task, signal: AbortSignal): Promise<void> {
  await fillFromStore(task, async (filling, context) => {
    const served = await indexDriver(task.config).create(task.config, context)
    await served.open(signal)
    await completeIndex(served, filling, signal)
  })
}

async function fillFromStore(
  { config, log, progress }: Task,
  fill: (
    filling: Omit<Replacement, 'next' | 'serve' | 'drop'>,
    context: IndexContext,
  ) => Promise<void>,
): Promise<void> {
  await withStore(config, log, async (store) => {
    const preparer = openPreparer(config, log)
    try {
      const hybrid = (await store.embedding()) !== undefined
      const context = indexContext(config, store, log, failAtOnce)
      await fill({ store, preparer, hybrid, progress, log }, context)
    } finally {
      await preparer.close()
    }
  })
}

function failAtOnce(error: Error): never {
  throw error
}

const BUSY =
  'Another process is already re-embedding this database: let it finish or stop it, then run this again'

/** Embeds every chunk again with the configured model. Throws if there is none, or another process is doing so. */
export async function reEmbedAll(
  config: Config,
  log: FastifyBaseLogger,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const model = embeddingModel(config)
  if (model === undefined) throw new Error('There is no embedding model: set EMBEDDING_MODEL')
  await withStore(config, log, async (store) => {
    const embedder = createEmbedder(config, model, undefined, log)
    const { replacement } = store
    try {
      const isDone = await replacement.exclusively(
        (alone) => reEmbed({ store, replacement, embedder, progress }, alone),
        signal,
      )
      if (!isDone) throw new Error(BUSY)
    } finally {
      embedder.close?.()
    }
  })
}
