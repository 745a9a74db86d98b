import type { FastifyBaseLogger } from 'fastify'
import { type Config, ConfigError } from '../config.ts'
import type { ChunkIndex } from '../indexes/chunk-index.ts'
import { createVectorBacklog } from '../services/embedding/backlog.ts'
import { checkEmbedding, type Embedding } from '../services/embedding/embedding.ts'
import { missingToSwap } from '../services/embedding/re-embed.ts'
import { createExtractor } from '../services/extraction/extractor.ts'
import { languageData } from '../services/extraction/recognise.ts'
import { createCompletionWaiter } from '../services/ingestion/completion-waiter.ts'
import {
  createOrphanSweep,
  createReconciliation,
  watchSharedIndex,
} from '../services/ingestion/index-sync.ts'
import { createPreparer } from '../services/ingestion/preparer.ts'
import { untilAvailable } from '../services/ingestion/retry-policy.ts'
import { createSources } from '../services/ingestion/segments.ts'
import { createIngestion } from '../services/ingestion/worker.ts'
import { createMetrics } from '../services/ops/metrics.ts'
import type { OpenedStore } from '../stores/opened-store.ts'
import { openChunkIndex } from './chunk-index.ts'
import { chosenVectors, openEmbedding, openNextModel } from './models.ts'
import { checkWebhookUrl, openWebhooks } from './outbound.ts'
import { openStore } from './stores.ts'

/** Time for documents being ingested when the server stops; unfinished ones return to the queue. */
const INGESTION_GRACE_MS = 5_000
/** How long to wait at the start for an unreachable database. */
const DATABASE_MS = 60_000

/**
 * The languages of text recognition (OCR); none if it is off. Throws `ConfigError` for one whose package is missing.
 */
function recognitionLanguages({ OCR, OCR_LANGUAGES }: Pick<Config, 'OCR' | 'OCR_LANGUAGES'>) {
  const languages = OCR === 'on' ? OCR_LANGUAGES.split(/[ ,+]/) : []
  const mistakes = languages
    .filter((language) => languageData(language) === undefined)
    .map((language) => ({
      field: 'OCR_LANGUAGES',
      message: `needs a package: npm install @tesseract.js-data/${language}`,
    }))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return languages
}

const readingOptions = (config: Config, log: FastifyBaseLogger) => ({
  ...{ processes: READERS, deadlineMs: READING_MS, log },
  languages: recognitionLanguages(config),
})

/** Opens the document side: document store, index, and the ingestion from one to the other. */
export async function openKnowledge(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  signal?: AbortSignal,
) {
  checkWebhookUrl(config)
  const reading = readingOptions(config, log)
  const store = await openStore(config, log, onFatal, { milliseconds: DATABASE_MS, signal })
  const embedding = await openEmbedding(config, store, log)
  const preparer = openPreparer(config, log)
  const opened = await openChunkIndex(config, store, preparer, log, onFatal)
  const { index, shared, statistics } = opened
  const extractor = createExtractor(reading)
  const sweep = shared ? createOrphanSweep({ store, index, log }) : undefined
  const parts = { store, index, preparer, log }
  const reconciliation = createReconciliation({ ...parts, sweep, hybrid: embedding !== undefined })
  const { backlog, completionWaiter } = openBacklog(store, index, embedding, log)
  const metrics = createMetrics(store.counts, backlog?.progress)
  const webhooks = openWebhooks(config, store.outbox, log)
  const ingestion = createIngestion({
    ...parts,
    ...{ onPublished: backlog?.published, countedAs: statistics?.analyser },
    openSource: createSources({ store, extractor }),
    concurrency: config.INGEST_CONCURRENCY,
    onOutcome(outcome) {
      metrics.ingestionEnded(outcome)
      completionWaiter.ended(outcome)
      statistics?.changed()
      webhooks.wake()
    },
  })
  store.subscribe?.({
    jobCame: ingestion.wake,
    documentEnded(id) {
      backlog?.changed()
      completionWaiter.ended(id === undefined ? id : { documentId: id })
    },
  })
  const nextModel = openNextModel(config, store, embedding !== undefined, log)
  const keeper = createIndexKeeper({ ...opened, store, reconciliation, log })
  const stopping = new AbortController()
  const background: Promise<void>[] = []

  const begin = async (signal: AbortSignal) => {
    const ingest = () => webhooks.start().then(ingestion.start)
    await keeper.open(signal)
    background.push(keeper.watch(signal))
    await untilAvailable(ingest, log, signal)
    for (const each of [backlog, nextModel]) if (each) background.push(each.run(signal))
    void sweep?.run(signal)
  }

  return {
    ...{ store, index, ingestion, completionWaiter, reconciliation, metrics },
    ...{ embedding, backlog, nextModel, preparer },
    async start() {
      await begin(stopping.signal).catch((error: unknown) => {
        // Stopped before the start was complete: the next start continues from there.
        if (!stopping.signal.aborted) throw error
      })
    },
    async close() {
      stopping.abort()
      embedding?.close()
      nextModel?.close()
      await Promise.all(background)
      await ingestion.stop(INGESTION_GRACE_MS)
      extractor.close()
      await webhooks.stop()
      await preparer.close()
      await index.close()
      await store.close()
    },
  }
}

interface Kept
  extends Pick<Awaited<ReturnType<typeof openChunkIndex>>, 'open' | 'lost' | 'statistics'> {
  store: Pick<OpenedStore, 'retireChunkKeys'>
  reconciliation: ReturnType<typeof createReconciliation>
  log: FastifyBaseLogger
}

function createIndexKeeper({ open, lost, statistics, store, reconciliation, log }: Kept) {
  const bringUpToDate = async (signal: AbortSignal, isLost: boolean) => {
    const isNew = await open(signal)
    // Otherwise another server might add chunks to the lost index and complete them only after
    // the comparison.
    if (isNew || isLost) await store.retireChunkKeys()
    await reconciliation.run(signal)
  }
  const keep = (signal: AbortSignal, isLost: boolean) =>
    untilAvailable(() => bringUpToDate(signal, isLost), log, signal)

  return {
    /** Opens the index and adds what is missing. */
    open: (signal: AbortSignal) => keep(signal, false),
    /** Repeats that whenever a shared index has been lost, until `signal` is aborted. */
    async watch(signal: AbortSignal) {
      const heal = () => keep(signal, true)
      if (!statistics) return
      const watching = watchSharedIndex({ lost, reconciliation, heal, log }, signal)
      await Promise.all([watching, statistics.run(signal)])
    },
  }
}

/** Makes missing vectors in the background if there is an embedder, and notifies waiting requests. */
function openBacklog(
  store: OpenedStore,
  index: ChunkIndex,
  embedding: Embedding | undefined,
  log: FastifyBaseLogger,
) {
  const backlog =
    embedding &&
    createVectorBacklog({
      ...{ store, index, embedding, log, alone: store.backlogAlone },
      onProgress: () => completionWaiter.ended(),
    })
  const completionWaiter = createCompletionWaiter(store, backlog)
  return { backlog, completionWaiter }
}

/** Deadline to extract the text of one file; ten thousand pages take about a minute. */
const READING_MS = 300_000
/** Number of processes that extract text; each may take several hundred megabytes meanwhile. */
const READERS = 2
/** Deadline to split and analyse one document, or one batch read from the store; the largest take seconds. */
const PREPARATION_MS = 60_000

/** Starts the worker threads that split and analyse text. */
export function openPreparer({ SEARCH_LANGUAGE: language }: Config, log: FastifyBaseLogger) {
  return createPreparer({ language, deadlineMs: PREPARATION_MS, log })
}

/** Throws if a start with the configuration `next` would refuse the webhook URL, or the vectors in this store. */
export async function checkNextStart(
  next: Config,
  { DATABASE_URL, DATA_DIR }: Config,
  store: OpenedStore,
): Promise<void> {
  checkWebhookUrl(next)
  const name = chosenVectors(next)
  const isOtherStore = next.DATABASE_URL !== DATABASE_URL || next.DATA_DIR !== DATA_DIR
  if (name === undefined || isOtherStore) return
  const missing = await missingToSwap({ store, replacement: store.replacement }, name)
  if (missing === undefined) await checkEmbedding(store, name)
}
