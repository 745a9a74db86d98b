import type { FastifyBaseLogger } from 'fastify'
import type { Services } from '../app.ts'
import type { Config } from '../config.ts'
import type { Environment } from '../lib/environment.ts'
import { loadConfiguration } from '../services/agent/configuration.ts'
import { replaceVectors } from '../services/embedding/re-embed.ts'
import { createAdmission } from '../services/ingestion/admission.ts'
import { untilAvailable } from '../services/ingestion/availability.ts'
import { createLineIngestion } from '../services/ingestion/batch.ts'
import { createCompletionWaiter } from '../services/ingestion/completion-waiter.ts'
import { createDocuments } from '../services/ingestion/documents.ts'
import { createReconciliation } from '../services/ingestion/index-sync.ts'
import { createPreparer } from '../services/ingestion/preparer.ts'
import { createOrphanSweep } from '../services/ingestion/sweep-orphans.ts'
import { createFiles } from '../services/ingestion/uploads.ts'
import { createIngestion } from '../services/ingestion/worker.ts'
import { createMetrics } from '../services/ops/metrics.ts'
import { createReadiness } from '../services/ops/readiness.ts'
import { composeAgent } from './agent.ts'
import { openChunkIndex } from './chunk-index.ts'
import {
  checkWebhookUrl,
  openEmbedding,
  openReading,
  openStaging,
  openWebhooks,
} from './ingestion-parts.ts'
import { createEmbedder } from './models.ts'
import { createSearch } from './search.ts'
import { listenToOthers, openAgentStores, openStore } from './stores.ts'

/** For the documents in work when the server stops; what is not done by then goes back to the queue. */
const INGESTION_GRACE_MS = 5_000
/** For a database that is away when the server starts. */
const DATABASE_MS = 60_000
/** Splitting and analysing one document; the largest take seconds. */
const PREPARATION_MS = 60_000

interface Composition {
  services: Services
  /** Brings the index up to date, then begins to ingest. Resolves when that has begun. */
  start(): Promise<void>
  /** Finishes what is under way, in bounded time, and closes everything that was opened. */
  close(): Promise<void>
}

/** The one file that names concrete stores, indexes and models; everything else sees interfaces. `signal` ends the wait for a database that is away. */
export async function compose(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  environment: Environment = {},
  signal?: AbortSignal,
): Promise<Composition> {
  const loaded = await loadConfiguration(config.AGENT_CONFIG)
  const { AGENT_CONFIG: file } = config
  log.info({ file }, loaded.found ? 'agent configuration read' : 'no agent configuration: defaults')
  const knowledge = await openKnowledge(config, log, onFatal, signal)
  const { store, index, ingestion, completionWaiter, reconciliation, embedding, metrics } =
    knowledge
  const { staging } = knowledge

  const { retrieval, reranking, reranker, checkEmbedder } = await createSearch(
    config,
    { ...{ store, index, embedding, reconciliation }, searchEnded: metrics.searchEnded },
    log,
  )

  const agent = await composeAgent({
    ...{ config, environment, loaded, log, retrieval, reranker, metrics, store },
    lookup: store.lookup,
    stores: await openAgentStores(config, store),
    retrievalMode: embedding ? 'hybrid' : 'lexical',
  })

  const documents = createDocuments({ store, index, completionWaiter, wake: ingestion.wake, log })

  return {
    services: {
      retrieval,
      metrics,
      documents,
      files: createFiles({ store, wake: ingestion.wake, mostBytes: config.FILE_LIMIT }),
      lines: createLineIngestion({ documents, log }),
      admission: createAdmission({ store, queueLimit: config.INGEST_QUEUE_LIMIT }),
      ...agent.services,
      readiness: createReadiness({
        checks: {
          store: store.check,
          index: async (signal) => {
            await index.check(signal)
            await reconciliation.check(signal)
          },
          agent: async () => void (await loaded.hasChanged()),
        },
        embedder: checkEmbedder,
        reranker: reranking?.check,
        reindex: staging?.progress,
        counts: store.counts,
        log,
      }),
    },
    async start() {
      agent.start()
      await knowledge.start()
    },
    async close() {
      await agent.close()
      await knowledge.close()
    },
  }
}

/** The document side: document store, index, and the ingestion that moves text from one to the other. */
async function openKnowledge(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  signal?: AbortSignal,
) {
  checkWebhookUrl(config)
  const patience = { milliseconds: DATABASE_MS, signal }
  const store = await openStore(config, log, onFatal, patience)
  const embedding = await openEmbedding(config, store, log)
  const metrics = createMetrics(store.counts)
  const { index, open, shared } = await openChunkIndex(config, store, log, onFatal)
  const preparer = createPreparer({
    language: config.SEARCH_LANGUAGE,
    deadlineMs: PREPARATION_MS,
    log,
  })
  const reading = openReading(store, log)
  const sweep = shared ? createOrphanSweep({ store, index, log }) : undefined
  const reconciliation = createReconciliation({
    ...{ store, index, preparer, sweep, log },
    hybrid: embedding !== undefined,
  })
  const completionWaiter = createCompletionWaiter(store)
  const webhooks = openWebhooks(config, store.outbox, log)
  const ingestion = createIngestion({
    ...{ store, index, preparer, embedding, log, openSource: reading.openSource },
    concurrency: config.INGEST_CONCURRENCY,
    onOutcome(outcome) {
      metrics.ingestionEnded(outcome)
      completionWaiter.ended(outcome)
      webhooks.wake()
    },
  })
  listenToOthers(store, ingestion, completionWaiter)
  const staging = await openStaging(config, store, log)
  const stopping = new AbortController()
  let staged: Promise<void> | undefined

  return {
    ...{ store, index, ingestion, completionWaiter, reconciliation, embedding, staging, metrics },
    async start() {
      try {
        await untilAvailable(
          async () => {
            await open(stopping.signal)
            await reconciliation.run(stopping.signal)
          },
          log,
          stopping.signal,
        )
        await untilAvailable(
          async () => {
            await webhooks.start()
            await ingestion.start()
          },
          log,
          stopping.signal,
        )
        staged = staging?.run(stopping.signal)
        void sweep?.run(stopping.signal)
      } catch (error) {
        // Stopped before it had begun in full: the next start goes on from there.
        if (!stopping.signal.aborted) throw error
      }
    },
    async close() {
      stopping.abort()
      await staged
      await ingestion.stop(INGESTION_GRACE_MS)
      reading.close()
      await webhooks.stop()
      await preparer.close()
      await index.close()
      await store.close()
    },
  }
}

const BUSY =
  'Another process makes the vectors of this database anew: let it finish, or stop it, and run this again'

/** Embeds every chunk anew with the model that is configured, while nobody else does. */
export async function reindex(
  config: Config,
  log: FastifyBaseLogger,
  progress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (config.EMBEDDING_MODEL === undefined) {
    throw new Error('There is nothing to embed with: set EMBEDDING_MODEL')
  }
  const store = await openStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  try {
    const embedder = await createEmbedder(config, config.EMBEDDING_MODEL, undefined, log)
    const { replacement } = store
    const isDone = await replacement.alone(
      (alone) => replaceVectors({ store, replacement, embedder, progress }, alone),
      signal,
    )
    if (!isDone) throw new Error(BUSY)
  } finally {
    await store.close()
  }
}
