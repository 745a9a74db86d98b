import type { FastifyBaseLogger } from 'fastify'
import { BUILTIN, type Config, ConfigError, embeddingModel } from '../config.ts'
import type { ChunkIndex } from '../indexes/chunk-index.ts'
import { createGuardedFetch, refusalOf } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import { createVectorBacklog } from '../services/embedding/backlog.ts'
import {
  checkDimension,
  checkEmbedding,
  createEmbedding,
  type Embedding,
} from '../services/embedding/embedding.ts'
import {
  createOnlineReEmbedding,
  missingToSwap,
  swapShadowVectors,
} from '../services/embedding/re-embed.ts'
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
import { createWebhooks, type Webhooks } from '../services/webhooks/webhooks.ts'
import type { OpenedStore } from '../stores/opened-store.ts'
import type { Outbox } from '../stores/outbox.ts'
import { openChunkIndex } from './chunk-index.ts'
import { chosenVectors, createEmbedder, createNextEmbedder, nameOfVectors } from './models.ts'
import { openStore } from './stores.ts'

/** For the documents in work when the server stops; what is not done by then goes back to the queue. */
const INGESTION_GRACE_MS = 5_000
/** For a database that is away when the server starts. */
const DATABASE_MS = 60_000

/** In which languages pictures are read; none where they are not. Throws `ConfigError` for one without its package. */
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

/** The document side: document store, index, and the ingestion that moves text from one to the other. */
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
        // Stopped before it had begun in full: the next start goes on from there.
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
    // What others have put into one that is gone would be kept after all has been compared.
    if (isNew || isLost) await store.retireChunkKeys()
    await reconciliation.run(signal)
  }
  const keep = (signal: AbortSignal, isLost: boolean) =>
    untilAvailable(() => bringUpToDate(signal, isLost), log, signal)

  return {
    /** Opens the index, and adds what it lacks. */
    open: (signal: AbortSignal) => keep(signal, false),
    /** Does so again whenever an index that others can take away is gone, until `signal` is aborted. */
    async watch(signal: AbortSignal) {
      const heal = () => keep(signal, true)
      if (!statistics) return
      const watching = watchSharedIndex({ lost, reconciliation, heal, log }, signal)
      await Promise.all([watching, statistics.run(signal)])
    },
  }
}

/** Makes the vectors that are missing, where there is an embedder, and notifies requests that wait. */
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

/** Makes the vectors of the model to change to, if there is one. */
function openNextModel(
  config: Config,
  store: OpenedStore,
  isEmbedding: boolean,
  log: FastifyBaseLogger,
) {
  const { replacement } = store
  const embedder = createNextEmbedder(config, isEmbedding, log)
  if (!embedder) return undefined
  const online = createOnlineReEmbedding({ store, replacement, embedder, log })
  return { ...online, close: () => embedder.close?.() }
}

/** Reading the text out of one file; ten thousand pages take about a minute. */
const READING_MS = 300_000
/** Processes that read files; each may take several hundred megabytes while it reads. */
const READERS = 2
/** Splitting and analysing one document, or what is read of the store at once; the largest take seconds. */
const PREPARATION_MS = 60_000

/** What splits and analyses text, in threads of its own. */
export function openPreparer({ SEARCH_LANGUAGE: language }: Config, log: FastifyBaseLogger) {
  return createPreparer({ language, deadlineMs: PREPARATION_MS, log })
}

/** For the chunks that lack a vector of the new model when the server starts with it. */
const SWAP_MS = 120_000

/** Throws where the vectors that are kept are not of the model that is asked for, nor made already; the store is closed then. */
async function openEmbedding(config: Config, store: OpenedStore, log: FastifyBaseLogger) {
  const model = embeddingModel(config)
  try {
    const isDefault = config.EMBEDDING_MODEL === undefined
    const reason = isDefault && (await reasonAgainstDefault(config, store))
    if (reason) log.info(`search goes by words alone: ${reason}`)
    if (model === undefined || reason) return undefined
    const name = nameOfVectors(model)
    const { replacement } = store
    const make = (dimension?: number) => createEmbedder(config, model, dimension, log)
    const parts = { store, replacement, log, createEmbedder: make }
    await swapShadowVectors(parts, name, AbortSignal.timeout(SWAP_MS))
    const embedder = make(await checkEmbedding(store, name))
    // Of our own it is known, and its process need not start before there is work.
    if (model !== BUILTIN) await checkDimension(embedder)
    return createEmbedding({ embedder, log })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Why the built-in embedder is not the default here; nothing where it is. */
async function reasonAgainstDefault(
  { SEARCH_LANGUAGE: language }: Config,
  store: OpenedStore,
): Promise<string | undefined> {
  if (language !== 'english') {
    return `the built-in embedder knows English alone, and SEARCH_LANGUAGE is ${language}; for another name its model in EMBEDDING_MODEL`
  }
  const kept = await store.embedding()
  if (!kept || kept.model === nameOfVectors(BUILTIN)) return undefined
  return `the documents were embedded with "${kept.model}"; name it in EMBEDDING_MODEL, or change to builtin on the page Models of the screen, or set EMBEDDING_MODEL=builtin and run npm run re-embed`
}

/** Throws where a start with the configuration `next` would refuse the webhook's address, or the vectors in this store. */
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

/** What a receiver answers is not read, but for its status. */
const MAX_ANSWER_BYTES = 64 * 1024
const ANSWER_MS = 20_000

/** Throws an Error where WEBHOOK_URL may not be called, whatever its name resolves to. */
function checkWebhookUrl({ WEBHOOK_URL: url, OUTBOUND_ALLOW: allow = [] }: Config): void {
  const refusal = url === undefined ? undefined : refusalOf(url, createOutboundPolicy(allow))
  if (refusal) throw new Error(`WEBHOOK_URL: ${refusal.message}`)
}

/** Nothing is sent where there is no WEBHOOK_URL. */
function openWebhooks(
  { WEBHOOK_URL: url, WEBHOOK_SECRET: secret, OUTBOUND_ALLOW: allow = [] }: Config,
  outbox: Outbox,
  log: FastifyBaseLogger,
): Webhooks {
  if (url === undefined || secret === undefined) {
    const nothing = async () => undefined
    return { start: () => outbox.enable(false), wake: () => undefined, stop: nothing }
  }
  const guarded = createGuardedFetch(createOutboundPolicy(allow), {
    maximumBytes: MAX_ANSWER_BYTES,
    idleMs: ANSWER_MS,
    totalMs: ANSWER_MS,
  })
  const webhooks = createWebhooks({ outbox, fetch: guarded.fetch, url, secret, log })
  return {
    ...webhooks,
    async stop() {
      await webhooks.stop()
      await guarded.close()
    },
  }
}
