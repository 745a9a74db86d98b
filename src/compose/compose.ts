import type { FastifyBaseLogger } from 'fastify'
import type { Services } from '../app.ts'
import type { Config } from '../config.ts'
import type { Environment } from '../lib/environment.ts'
import { loadConfiguration } from '../services/agent/configuration.ts'
import { createLineIngestion } from '../services/ingestion/batch.ts'
import { createAdmission, createDocuments } from '../services/ingestion/documents.ts'
import { createFiles } from '../services/ingestion/uploads.ts'
import { createReadiness } from '../services/ops/readiness.ts'
import { composeAgent } from './agent.ts'
import { openKnowledge } from './knowledge.ts'
import { createSearch } from './search.ts'
import { openAgentStores } from './stores.ts'

interface Composition {
  services: Services
  /** Brings the index up to date, then begins to ingest. Resolves when that has begun. */
  start(): Promise<void>
  /** Finishes what is under way, in bounded time, and closes everything that was opened. */
  close(): Promise<void>
}

/** Puts the whole server together; with `src/compose/` alone it knows which stores, indexes and models there are. `signal` ends the wait for a database that is away. */
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
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const search = await createSearch(config, knowledge, log)
  const { retrieval } = search
  const agent = await composeAgent({
    ...{ config, environment, loaded, log, retrieval, metrics, store },
    reranker: search.reranker?.name,
    stores: await openAgentStores(config, store),
    retrievalMode: embedding ? 'hybrid' : 'lexical',
  })
  const { completionWaiter, ingestion } = knowledge
  const { wake } = ingestion
  const documents = createDocuments({ store, index, completionWaiter, wake, log })

  return {
    services: {
      retrieval,
      metrics,
      documents,
      files: createFiles({ store, documents, mostBytes: config.FILE_LIMIT }),
      lines: createLineIngestion({ documents, log }),
      admission: createAdmission(store, config.INGEST_QUEUE_LIMIT),
      ...agent.services,
      readiness: createReadiness({
        checks: {
          store: store.check,
          index: async (signal) => {
            await index.check(signal)
            await reconciliation.check()
          },
          agent: async () => void (await loaded.hasChanged()),
        },
        embedder: search.checkEmbedder,
        reranker: search.reranker?.check,
        reindex: knowledge.nextModel?.progress,
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
