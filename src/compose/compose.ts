import type { Environment } from '@agent-server/lib/environment.ts'
import { readIfPresent } from '@agent-server/lib/files.ts'
import type { ChatModel } from '@agent-server/models'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { createAnalyser } from '@agent-server/search'
import type { FastifyBaseLogger } from 'fastify'
import { type LoadedConfiguration, loadConfiguration } from '../agent/configuration.ts'
import { describeAgent } from '../agent/describe-agent.ts'
import { roomForTools } from '../agent/run/prompt.ts'
import type { Config } from '../config.ts'
import {
  createConversationDocuments,
  createConversationSweep,
} from '../knowledge/conversation-documents.ts'
import { corpusForCaller, listCollections } from '../knowledge/corpus-access.ts'
import { createAdmission, createDocuments } from '../knowledge/ingestion/documents.ts'
import { createFiles } from '../knowledge/ingestion/uploads.ts'
import { createTermsOfChunk } from '../knowledge/retrieval/relevance.ts'
import { createReranking } from '../knowledge/retrieval/rerank.ts'
import { createRetrieval, type Retrieval, watchSearches } from '../knowledge/retrieval/search.ts'
import { openWatch } from '../knowledge/watch/watch.ts'
import { openPages } from '../knowledge/web/pages.ts'
import type { Phase, Restart } from '../operator/admin/server-state.ts'
import { createKeys } from '../operator/keys/keys.ts'
import { type Activity, createActivity } from '../operator/ops/activity.ts'
import { createClosingModels } from '../operator/ops/closing-models.ts'
import { createReadiness, notLaunched } from '../operator/ops/readiness.ts'
import { createRunHistory } from '../operator/ops/runs.ts'
import { type AdminParts, composeAdmin, type GivenEnvironment } from './admin.ts'
import { type AgentSide, openAgentSide } from './agent.ts'
import { checkNextStart, type Knowledge, openKnowledge } from './knowledge.ts'
import { createModel, createReranker, embeddingModel, servedModels } from './models.ts'
import { createProcessChecks, processesOf } from './processes.ts'

/** What the process passes in. */
export interface ProcessParts {
  /** Includes what the `.env` file adds. */
  environment: Environment
  /** Receives the log, too. */
  activity: Activity
  given: GivenEnvironment
  /** Ends the wait for an unreachable database. */
  signal: AbortSignal
  restart: Restart
}

/** No refusal: where the folder is a volume, as in a container, the first save makes the file. */
const NO_AGENT_FILE =
  'AGENT_CONFIG names a file that does not exist: using the default agent, with all its tools. Saving on the Agent page creates the file.'

/** Builds the whole server; only `src/compose/` knows which stores, indexes and models there are. */
export async function compose(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  parts: ProcessParts,
) {
  const { environment, given, signal, restart, activity } = parts
  const loaded = await loadAgentFile(config, environment, log)
  // Closed in reverse order; also if a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const model = createModel(config, log)
  const knowledge = await openKnowledge(config, model, log, onFatal, signal)
  opened.defer(knowledge.close)
  const { store, embedding, metrics } = knowledge
  const search = createSearch(config, knowledge, model, log)
  const { forClients, folders, ...intake } = openCorpus(config, knowledge, search.retrieval, log)
  opened.defer(intake.close)
  const keys = createKeys({ store: store.keys, log })
  opened.defer(keys.close)
  const runs = createRunHistory(config.RUNS_KEPT)
  const { configuration } = loaded
  const agents = await openAgentSide({
    config,
    configuration,
    environment,
    log,
    model,
    retrieval: search.retrieval,
    termsOf: search.termsOf,
    metrics,
    store,
    runs,
  })
  opened.defer(agents.close)
  const operator = openOperator({
    config,
    log,
    environment,
    given,
    activity,
    runs,
    agents,
    restart,
    store,
    keys,
    folders,
    phase: { state: 'running' },
    checkStart: (next) => checkNextStart(next, config, store),
    knowledge,
    search,
    model,
  })
  opened.defer(operator.close)
  const services = {
    metrics,
    keys,
    keyStore: store.keys,
    ...forClients,
    maxFileBytes: config.FILE_LIMIT,
    embedding,
    records: store.responses,
    admission: createAdmission(store, config.INGEST_QUEUE_LIMIT),
    conversationStore: store.conversations,
    feedbackStore: store.feedback,
    questionStore: store.questions,
    evaluationStore: store.evaluations,
    judgeModel: model,
    agent: agents.agent,
    dialects: agents.dialects,
    artifacts: agents.artifacts,
    artifactLinks: agents.artifactLinks,
    host: agents.host,
    ...operator.services,
  }
  const kept = opened.move()
  return {
    services,
    /** Brings the index up to date, then starts ingestion. Resolves when ingestion has started. */
    async start() {
      kept.defer(activity.watch(metrics))
      agents.start()
      await knowledge.start()
      intake.start()
      operator.start()
    },
    /** Warns of processes that cannot be started here. */
    warn: operator.warn,
    /** Finishes work in flight within bounded time, and closes everything that was opened. */
    close: () => kept.disposeAsync(),
  }
}

async function loadAgentFile(
  { AGENT_CONFIG: file, SERVER_MODE }: Config,
  environment: Environment,
  log: FastifyBaseLogger,
): Promise<LoadedConfiguration> {
  const loaded = await loadConfiguration(file, SERVER_MODE)
  if (loaded.found) log.info({ file }, 'agent configuration loaded')
  else if (environment.AGENT_CONFIG) log.warn({ file }, NO_AGENT_FILE)
  else log.info({ file }, 'using the default agent')
  return loaded
}

interface OperatorParts extends AdminParts {
  knowledge: Knowledge
  search: ReturnType<typeof createSearch>
  model: ChatModel
  agents: AgentSide
}

/** What the operator sees of the server, and changes of it. */
function openOperator({ knowledge, search, model, ...parts }: OperatorParts) {
  const { config, log, agents } = parts
  const { host, window } = agents
  const { embedding, lexicalOnly, backlog } = knowledge
  const { sandbox, configuration } = host.current
  const processes = createProcessChecks({
    kinds: processesOf(embedding?.kind === 'builtin'),
    sandbox: model.supportsTools && configuration.tools.run_python ? sandbox : undefined,
    log,
  })
  const closingModels = createClosingModels({ models: servedModels(config), log })
  const admin = composeAdmin(parts)
  const description = describeAgent({
    current: () => host.current,
    isFileChanged: () => admin.agentFile.isChanged(),
    model,
    window,
    roomForTools: (prompt) => roomForTools(prompt, window),
    embedder: embedding && backlog && { ...embedding, progress: backlog.progress },
    lexicalOnly,
    reranker: search.reranker?.name,
  })
  const readiness = composeReadiness({ config, knowledge, search, processes, closingModels, log })
  return {
    services: { admin, description, readiness },
    start: closingModels.start,
    warn: processes.warn,
    close: closingModels.close,
  }
}

interface ReadinessParts {
  config: Config
  knowledge: Knowledge
  search: ReturnType<typeof createSearch>
  processes: ReturnType<typeof createProcessChecks>
  closingModels: ReturnType<typeof createClosingModels>
  log: FastifyBaseLogger
}

function composeReadiness(parts: ReadinessParts) {
  const { config, knowledge, search, processes, closingModels, log } = parts
  const { store, index, reconciliation, backlog, ingestion, nextModel } = knowledge
  return createReadiness({
    checks: {
      store: store.check,
      index: async (signal) => {
        // First, because an index that is still loading would not answer.
        await reconciliation.check()
        await index.check(signal)
      },
      agent: async () => void (await readIfPresent(config.AGENT_CONFIG)),
    },
    ingestion: async () => {
      await processes.check()
      await ingestion.check()
    },
    embedder: search.checkEmbedder,
    reranker: search.reranker?.check,
    embeddings: backlog?.progress,
    contexts: knowledge.contexts?.progress,
    pictures: knowledge.pictures?.progress,
    reEmbedding: nextModel?.progress,
    warnings: closingModels.warnings,
    stage: () => reconciliation.progress().state,
    counts: store.counts,
    log,
  })
}

export type { Phase, RestartAs } from '../operator/admin/server-state.ts'
export type { Activity } from '../operator/ops/activity.ts'

/** Where a process writes its log besides its output, so that the web UI can show it. */
export const openActivity = (): Activity => createActivity()

/**
 * The services of a server that is not launched: only those to set it up. Opens nothing that stores or finds documents.
 */
export async function composeIdle(
  config: Config,
  log: FastifyBaseLogger,
  phase: Phase,
  parts: ProcessParts,
) {
  const { environment, given, restart, activity } = parts
  return {
    admin: composeAdmin({
      config,
      log,
      environment,
      given,
      restart,
      phase,
      activity,
      checkStart: async () => undefined,
    }),
    readiness: notLaunched(
      phase.reason ?? 'The server is stopped until it is started again',
      embeddingModel(config) === undefined ? 'lexical' : 'hybrid',
    ),
  }
}

/** What clients do with the corpus, limited to what each may see and change, and background ingestion. */
function openCorpus(
  config: Config,
  knowledge: Knowledge,
  retrieval: Retrieval,
  log: FastifyBaseLogger,
) {
  const { store, index, completionWaiter, backlog, pictures } = knowledge
  const { wake } = knowledge.ingestion
  const documents = createDocuments({
    store,
    index,
    completionWaiter,
    backlog,
    pictures,
    wake,
    log,
    lookup: store.lookup,
  })
  const web = openPages(
    {
      isOn: config.FETCH_URLS === 'on',
      ignoredRobots: config.FETCH_IGNORE_ROBOTS ?? [],
      allow: config.OUTBOUND_ALLOW ?? [],
      maxBytes: config.FILE_LIMIT,
    },
    { store, wake, log },
  )
  const { conversations, lookup } = store
  const sweep = createConversationSweep({ store, lookup, documents, log })
  const services = {
    documents,
    conversationDocuments: createConversationDocuments({ documents, conversations }),
    retrieval,
    pages: web.pages,
    collections: listCollections(lookup),
    files: createFiles({ store }),
    log,
  }
  const folders = openWatch(
    {
      folders: config.WATCH_FOLDERS ?? [],
      maxBytes: config.FILE_LIMIT,
      queueLimit: config.INGEST_QUEUE_LIMIT,
    },
    { store, documents, log },
  )
  return {
    forClients: {
      corpusFor: (caller: Caller) => corpusForCaller(caller, services),
      conversationDeleted: sweep.conversationDeleted,
      collectionNames: store.collectionNames,
    },
    folders,
    start() {
      web.start()
      folders.start()
      sweep.start()
    },
    async close() {
      await sweep.close()
      await folders.close()
      await web.close()
    },
  }
}

/** Search as configured: by keywords; with an embedder, by meaning too; reranked if there is a model for it. */
function createSearch(
  config: Config,
  knowledge: Knowledge,
  model: ChatModel,
  log: FastifyBaseLogger,
) {
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const analyser = createAnalyser(config.SEARCH_LANGUAGE)
  const reranker = createReranker(config, model, log)
  const reranking = reranker && createReranking({ reranker, log })
  const retrieval = createRetrieval({
    index,
    store,
    analyseQuery: analyser.query,
    termsOfChunk: createTermsOfChunk(analyser),
    reranking,
    embedding,
    hasAllVectors: () => reconciliation.progress().state === 'ready',
  })
  return {
    retrieval: watchSearches(retrieval, reconciliation.check, metrics.searchEnded),
    termsOf: (text: string) => analyser.query(text).terms,
    reranker: reranker && { name: reranker.name, check: reranking?.check },
    checkEmbedder:
      embedding &&
      (async (signal: AbortSignal) => {
        await reconciliation.checkVectors()
        await embedding.check(signal)
      }),
  }
}
