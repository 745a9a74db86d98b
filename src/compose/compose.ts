import type { FastifyBaseLogger } from 'fastify'
import { type Config, ConfigError, embeddingModel } from '../config.ts'
import { createAnalyser } from '../indexes/analyser/analyser.ts'
import type { Environment } from '../lib/environment.ts'
import type { Caller } from '../schemas/operator/api-key.ts'
import type { Readiness } from '../schemas/operator/ops.ts'
import type { BeginAnew, Phase } from '../services/admin/server-state.ts'
import { AgentConfigurationError, loadConfiguration } from '../services/agent/configuration.ts'
import { createEmbeddings } from '../services/embedding/embedding.ts'
import { createLineIngestion } from '../services/ingestion/batch.ts'
import {
  createAdmission,
  createDocuments,
  type Documents,
} from '../services/ingestion/documents.ts'
import { readdChunks } from '../services/ingestion/index-sync.ts'
import { createFiles } from '../services/ingestion/uploads.ts'
import { limitTo } from '../services/keys/corpus-access.ts'
import { createKeys, type Keys } from '../services/keys/keys.ts'
import { EMPTY_KEY_FILE, KEY_FILE, KeyFile } from '../services/keys/record.ts'
import { type Activity, createActivity } from '../services/ops/activity.ts'
import { createReadiness } from '../services/ops/readiness.ts'
import { analyseChunks, createFeedback } from '../services/retrieval/feedback.ts'
import { createFileSearch } from '../services/retrieval/file-search.ts'
import { createHybridSearch } from '../services/retrieval/hybrid-search.ts'
import { createReranking } from '../services/retrieval/rerank.ts'
import {
  createRetrieval,
  NOTHING_TO_FIND,
  type Retrieval,
  watchSearches,
} from '../services/retrieval/search.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import { composeAdmin, type GivenEnvironment } from './admin.ts'
import { composeAgent, listCollections } from './agent.ts'
import { checkNextStart, openKnowledge } from './knowledge.ts'
import { createReranker } from './models.ts'
import { composePages } from './outbound.ts'
import { openAgentStores } from './stores.ts'

/** What the process passes in. */
export interface ProcessParts {
  /** Includes what the `.env` file adds. */
  environment?: Environment
  /** Receives the log, too. */
  activity?: Activity
  given?: GivenEnvironment
  /** Ends the wait for an unreachable database. */
  signal?: AbortSignal
  /** Absent if the process cannot restart itself. */
  restart?: BeginAnew | undefined
}

/** Builds the whole server; only `src/compose/` knows which stores, indexes and models there are. */
export async function compose(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  parts: ProcessParts = {},
) {
  const { environment = {}, signal, restart, activity = createActivity() } = parts
  const { given = { variables: environment, file: '.env' } } = parts
  const loaded = await loadConfiguration(config.AGENT_CONFIG, config.SERVER_MODE)
  const { AGENT_CONFIG: file } = config
  log.info({ file }, loaded.found ? 'agent configuration read' : 'no agent configuration: defaults')
  const knowledge = await openKnowledge(config, log, onFatal, signal)
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const search = createSearch(config, knowledge, log)
  const { retrieval } = search
  const stores = await openAgentStores(config, store)
  const keys = await openKeys(stores, log)
  const { backlog } = knowledge
  const agent = await composeAgent({
    ...{ config, environment, loaded, log, retrieval, metrics, store },
    reranker: search.reranker?.name,
    stores,
    embedder: embedding && backlog && { ...embedding, progress: backlog.progress },
  })
  const { documents, web } = openDocuments(config, knowledge, log)

  let endSamples: () => void = () => undefined

  return {
    services: {
      ...{ metrics, keys },
      ...createCorpusServices({ knowledge, documents, retrieval, config, log, pages: web.pages }),
      embed: createEmbeddings(embedding),
      admission: createAdmission(store, config.INGEST_QUEUE_LIMIT),
      ...agent.services,
      admin: await composeAdmin({
        ...{ config, log, environment, given, loaded, activity, catalogue: agent.catalogue },
        ...{ restart, stores, keys, phase: { state: 'running' } },
        checkStart: (next) => checkNextStart(next, config, store),
      }),
      readiness: createReadiness({
        checks: {
          store: store.check,
          index: async (signal) => {
            // First, because an index that is still loading would not answer.
            await reconciliation.check()
            await index.check(signal)
          },
          agent: async () => void (await loaded.changedFields()),
        },
        ingestion: knowledge.ingestion.check,
        embedder: search.checkEmbedder,
        reranker: search.reranker?.check,
        meaning: backlog?.progress,
        reindex: knowledge.nextModel?.progress,
        stage: () => reconciliation.progress().state,
        ...{ counts: store.counts, log },
      }),
    },
    /** Brings the index up to date, then starts ingestion. Resolves when ingestion has started. */
    async start() {
      endSamples = activity.watch(metrics)
      agent.start()
      await knowledge.start()
      web.start()
    },
    /** Finishes work in flight within bounded time, and closes everything that was opened. */
    async close() {
      endSamples()
      await agent.close()
      await keys.close()
      await web.close()
      await knowledge.close()
    },
  }
}

export type { BeginAnew, Phase } from '../services/admin/server-state.ts'
export type { Activity } from '../services/ops/activity.ts'

/** Where a process writes its log besides its output, so that the screen can show it. */
export const openActivity = (): Activity => createActivity()

/** Whether a start failed for a reason that can be fixed on the screen. */
export function isMendable(error: unknown): error is Error {
  return error instanceof ConfigError || error instanceof AgentConfigurationError
}

/**
 * The services of a server that is not launched: only those to set it up. Opens nothing that stores or finds documents.
 */
export async function composeIdle(
  config: Config,
  log: FastifyBaseLogger,
  phase: Phase,
  parts: ProcessParts,
) {
  const { environment = {}, restart, activity = createActivity() } = parts
  const { given = { variables: environment, file: '.env' } } = parts
  const message = phase.reason ?? 'The server is stopped until it is launched'
  return {
    admin: await composeAdmin({
      ...{ config, log, environment, given, restart, phase, activity },
      stores: await openAgentStores(config, {}),
      loaded: { changedFields: async () => [] },
      catalogue: () => '',
      checkStart: async () => undefined,
    }),
    // Strangers do not get the reason, which names files and their content.
    readiness: async (isTrusted = true): Promise<Readiness> => ({
      status: 'not_ready',
      checks: {
        launch: {
          ...{ state: 'failed', milliseconds: 0 },
          message: isTrusted ? message : 'The server is not launched',
        },
      },
      retrieval: embeddingModel(config) === undefined ? 'lexical' : 'hybrid',
    }),
  }
}

async function openKeys({ openLockFile }: AgentStores, log: FastifyBaseLogger): Promise<Keys> {
  return createKeys({ file: await openLockFile(KEY_FILE, KeyFile, EMPTY_KEY_FILE), log })
}

interface CorpusParts {
  knowledge: Pick<Awaited<ReturnType<typeof openKnowledge>>, 'store'>
  documents: Documents
  retrieval: Retrieval
  pages: ReturnType<typeof composePages>['pages']
  config: Pick<Config, 'FILE_LIMIT'>
  log: FastifyBaseLogger
}

/** Document operations for clients, and the web pages fetched for them. */
function openDocuments(
  config: Config,
  knowledge: Awaited<ReturnType<typeof openKnowledge>>,
  log: FastifyBaseLogger,
) {
  const { store, index, completionWaiter, backlog, preparer } = knowledge
  const { wake } = knowledge.ingestion
  const documents = createDocuments({
    ...{ store, index, completionWaiter, backlog, wake, log, lookup: store.lookup },
    readd: (keys) => readdChunks({ store, index, preparer }, keys),
  })
  return { documents, web: composePages({ config, store, documents, wake, log }) }
}

/** Services over the corpus, limited to what each caller may see and change. */
function createCorpusServices({ knowledge, config, ...parts }: CorpusParts) {
  const { store } = knowledge
  const { documents, retrieval, log } = parts
  const collections = listCollections(store.lookup)
  const services = {
    ...{ ...parts, collections },
    files: createFiles({ store, documents }),
    lines: createLineIngestion({ documents, log }),
    fileSearch: createFileSearch({ documents, retrieval, collections }),
  }
  return {
    maxFileBytes: config.FILE_LIMIT,
    limitedTo: (caller: Caller) => limitTo(caller, services),
  }
}

/** Search as configured: by keywords; with an embedder, by meaning too; reranked if there is a model for it. */
function createSearch(
  config: Config,
  knowledge: Awaited<ReturnType<typeof openKnowledge>>,
  log: FastifyBaseLogger,
) {
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const analyser = createAnalyser(config.SEARCH_LANGUAGE)
  const reranker = createReranker(config, log)
  const reranking = reranker && createReranking({ reranker, log })
  const feedback = createFeedback({ index, termsOf: analyseChunks({ store, analyser }) })
  let hasVectors = false
  const retrieval = createRetrieval({
    index: { search: feedback.search, filters: index.filters },
    ...{ store, analyseQuery: analyser.query, reranking },
    hybrid: embedding && {
      search: createHybridSearch({ index, feedback, store }),
      // Not while vectors are incomplete: half of them would find half of the chunks, and nobody
      // would notice.
      embed: async (text, signal) => {
        if (reconciliation.progress().state !== 'ready') return undefined
        hasVectors ||= (await store.embedding()) !== undefined
        return hasVectors ? embedding.query(text, signal) : NOTHING_TO_FIND
      },
    },
  })
  return {
    retrieval: watchSearches(retrieval, reconciliation.check, metrics.searchEnded),
    reranker: reranker && { name: reranker.name, check: reranking?.check },
    checkEmbedder:
      embedding &&
      (async (signal: AbortSignal) => {
        await reconciliation.checkVectors()
        await embedding.check(signal)
      }),
  }
}
