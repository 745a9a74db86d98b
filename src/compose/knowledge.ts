import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ChatModel, Meter } from '@agent-server/models'
import { createExtractor, type Extractor, installedOcr } from '@agent-server/readers'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { ChunkIndex } from '@agent-server/search'
import { checkPlace, type OpenedStore } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { CONTEXTS, createChunkContexts, PICTURES } from '../documents/contexts/contexts.ts'
import { createPictureDescriber } from '../documents/contexts/describe-pictures.ts'
import { createContextWriter } from '../documents/contexts/write-context.ts'
import { createVectorBacklog, type VectorBacklog } from '../documents/embedding/backlog.ts'
import { checkModel } from '../documents/embedding/re-embed.ts'
import {
  type CompletionWaiter,
  createCompletionWaiter,
} from '../documents/ingestion/completion-waiter.ts'
import {
  createIndexKeeper,
  createOrphanSweep,
  createReconciliation,
} from '../documents/ingestion/index-sync.ts'
import { createPreparer } from '../documents/ingestion/preparer.ts'
import { untilAvailable } from '../documents/ingestion/retry-policy.ts'
import { createSources } from '../documents/ingestion/segments.ts'
import { createIngestion } from '../documents/ingestion/worker.ts'
import { checkReceiver, openWebhooks } from '../documents/webhooks/webhooks.ts'
import { createMetrics, type Metrics } from '../operator/ops/metrics.ts'
import type { Embedding } from '../retrieval/embedding.ts'
import { Background } from './background.ts'
import { createIndex } from './chunk-index.ts'
import { checkInstalled, configuredVectors, openEmbedding, openNextModel } from './models.ts'
import { openConfiguredStore, storePlace } from './stores.ts'
import { openUsage, type Terms } from './usage.ts'

/** Time for documents being ingested when the server stops; unfinished ones return to the queue. */
const INGESTION_GRACE_MS = 5_000
/** How long to wait at the start for an unreachable database. */
const DATABASE_MS = 60_000

export type Knowledge = Awaited<ReturnType<typeof openKnowledge>>

/** Opens the document side: document store, index, and the ingestion from one to the other. */
export async function openKnowledge(
  config: Config,
  { model, terms }: { model: ChatModel; terms: Terms },
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  signal?: AbortSignal,
) {
  checkReceiver(receiverOf(config))
  ocrOf(config)
  const store = await openConfiguredStore(config, log, onFatal, {
    milliseconds: DATABASE_MS,
    signal,
  })
  // Closed in reverse order; also if a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  opened.defer(store.close)
  const usage = openUsage(config, store, terms, log)
  opened.defer(() => usage.ledger.flush())
  const { embedding, lexicalOnly } = await openEmbedding(config, store, log)
  const preparer = openPreparer(config, log)
  opened.defer(preparer.close)
  const index = await createIndex(config, store, log, onFatal)
  opened.defer(index.close)
  const extractor = openExtractor(config, log)
  opened.defer(extractor.close)
  const sweep = index.shared ? createOrphanSweep({ store, index, log }) : undefined
  const parts = { store, index, preparer, log }
  const reconciliation = createReconciliation({ ...parts, sweep, hybrid: embedding !== undefined })
  const { backlog, completionWaiter } = openBacklog(store, index, embedding, log)
  const writing = openContexts(config, {
    ...parts,
    model,
    extractor,
    backlog,
    // Nobody has asked for it: it is the server's own work.
    meter: usage.ledger.meter(MASTER),
  })
  const backlogs = [backlog, writing.contexts, writing.pictures].filter(
    (each) => each !== undefined,
  )
  const metrics = createMetrics(store.counts, backlog?.progress)
  const { webhooks, ingestion } = openIngestion(config, {
    ...parts,
    extractor,
    metrics,
    completionWaiter,
    backlogs,
  })
  opened.defer(webhooks.stop)
  opened.defer(() => ingestion.stop(INGESTION_GRACE_MS))
  const nextModel = openNextModel(config, store, embedding !== undefined, log)
  const keeper = createIndexKeeper({ index, store, reconciliation, log })
  const background = new Background(log)
  opened.defer(async () => {
    embedding?.close()
    nextModel?.close()
    await background.ended()
  })

  const closing = opened.move()
  return {
    store,
    index,
    usage,
    ingestion,
    completionWaiter,
    reconciliation,
    metrics,
    embedding,
    lexicalOnly,
    backlog,
    ...writing,
    nextModel,
    preparer,
    extractor,
    /** Resolves when ingestion has started. Background work ends with `running`, before the close. */
    async start(running: AbortSignal) {
      background.add(usage.ledger.run(running))
      await keeper.open(running)
      background.add(keeper.watch(running))
      await untilAvailable(() => webhooks.start().then(ingestion.start), log, running)
      running.throwIfAborted()
      for (const each of [...backlogs, nextModel]) if (each) background.add(each.run(running))
      void sweep?.run(running)
    },
    close: () => closing.disposeAsync(),
  }
}

interface IngestionParts {
  store: Awaited<ReturnType<typeof openConfiguredStore>>
  index: ChunkIndex
  preparer: ReturnType<typeof openPreparer>
  extractor: Extractor
  metrics: Pick<Metrics, 'ingestionEnded'>
  completionWaiter: CompletionWaiter
  backlogs: readonly { published(keys: readonly number[]): void; changed(): void }[]
  log: FastifyBaseLogger
}

/** Creates the ingestion, and whatever learns of its outcomes. */
function openIngestion(
  config: Config,
  { extractor, metrics, completionWaiter, backlogs, ...parts }: IngestionParts,
) {
  const { store, log } = parts
  const webhooks = openWebhooks(receiverOf(config), { outbox: store.outbox, log })
  const ingestion = createIngestion({
    ...parts,
    onPublished(keys) {
      for (const { published } of backlogs) published(keys)
    },
    openSource: createSources({ store, extractor }),
    concurrency: config.INGEST_CONCURRENCY,
    onOutcome(outcome) {
      metrics.ingestionEnded(outcome)
      completionWaiter.ended(outcome)
      webhooks.wake()
    },
  })
  store.subscribe?.({
    notifyJob: ingestion.wake,
    notifyDocument(id) {
      for (const { changed } of backlogs) changed()
      completionWaiter.ended(id === undefined ? id : { documentId: id })
    },
  })
  return { webhooks, ingestion }
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
      store,
      index,
      embedding,
      log,
      exclusively: (...work) => store.withExclusiveLock('vectors', ...work),
      onProgress: () => completionWaiter.ended(),
    })
  const completionWaiter = createCompletionWaiter(store, backlog)
  return { backlog, completionWaiter }
}

interface ContextParts {
  store: OpenedStore
  index: ChunkIndex
  preparer: ReturnType<typeof openPreparer>
  model: ChatModel
  extractor: Extractor
  backlog: VectorBacklog | undefined
  meter: Meter
  log: FastifyBaseLogger
}

/** Lets the chat model write contexts of chunks and describe pictures in the background, if it is to. */
function openContexts(
  { CHUNK_CONTEXT, PICTURE_DESCRIPTIONS }: Config,
  { model, extractor, backlog, ...parts }: ContextParts,
) {
  const { store, log } = parts
  const onPublished = (keys: readonly number[]) => backlog?.published(keys)
  return {
    contexts:
      CHUNK_CONTEXT === 'off'
        ? undefined
        : createChunkContexts({
            ...parts,
            kind: CONTEXTS,
            createWriter: (meter) =>
              createContextWriter({ model, lookup: store.lookup, meter, log }),
            exclusively: (...work) => store.withExclusiveLock('contexts', ...work),
            onPublished,
          }),
    pictures:
      PICTURE_DESCRIPTIONS === 'off'
        ? undefined
        : createChunkContexts({
            ...parts,
            kind: PICTURES,
            createWriter: (meter) =>
              createPictureDescriber({ model, store, extractor, meter, log }),
            exclusively: (...work) => store.withExclusiveLock('pictures', ...work),
            onPublished,
          }),
  }
}

/** Reads files in processes of their own. */
function openExtractor(config: Config, log: FastifyBaseLogger) {
  return createExtractor({
    processes: READERS,
    deadlineMs: READING_MS,
    ocr: ocrOf(config),
    marksPictures: config.PICTURE_DESCRIPTIONS === 'chat',
    log,
  })
}

/** Deadline to extract the text of one file; ten thousand pages take about a minute. */
const READING_MS = 300_000
/** Number of processes that extract text; each may take several hundred megabytes meanwhile. */
const READERS = 2
/** Deadline to split and analyse one document, or one batch read from the store; the largest take seconds. */
const PREPARATION_MS = 60_000

/** What recognises text in images; throws a SetupError if it is not installed. */
const ocrOf = ({ OCR: chosen, OCR_LANGUAGES: languages }: Config) =>
  chosen === 'off' ? undefined : installedOcr(chosen === 'pp-ocr' ? chosen : 'tesseract', languages)

/** Starts the worker threads that split and analyse text. */
export function openPreparer({ SEARCH_LANGUAGE: language }: Config, log: FastifyBaseLogger) {
  return createPreparer({ language, deadlineMs: PREPARATION_MS, log })
}

/**
 * Throws if a start with the configuration `next` would refuse the webhook URL, OCR, the embedder, the store, or its
 * vectors. Another store is tried only with a log.
 */
export async function checkNextStart(
  next: Config,
  { DATABASE_URL, DATA_DIR }: Config,
  log: Pick<FastifyBaseLogger, 'warn'> | false,
  store: OpenedStore,
): Promise<void> {
  checkReceiver(receiverOf(next))
  ocrOf(next)
  checkInstalled(next)
  const isOtherStore =
    next.DATABASE_URL !== DATABASE_URL ||
    (DATABASE_URL === undefined && (await placeOf(next.DATA_DIR)) !== (await placeOf(DATA_DIR)))
  if (isOtherStore) return log ? checkPlace(storePlace(next), log) : undefined
  const name = configuredVectors(next)
  if (name !== undefined) await checkModel(store, name)
}

/** Where a directory is, whatever links lead there. */
const placeOf = (directory: string) => realpath(directory).catch(() => resolve(directory))

const receiverOf = ({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret, OUTBOUND_ALLOW }: Config) => ({
  url,
  secret,
  allow: OUTBOUND_ALLOW ?? [],
})
