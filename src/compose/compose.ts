import type { Environment } from '@agent-server/lib/environment.ts'
import { renamedTo } from '@agent-server/lib/former-names.ts'
import type { FastifyBaseLogger } from 'fastify'
import {
  FORMER_FIELDS,
  type LoadedConfiguration,
  loadConfiguration,
} from '../agent/configuration.ts'
import type { Services } from '../app.ts'
import type { Config } from '../config.ts'
import { createAttachedFiles } from '../documents/attached-files.ts'
import { createAdmission } from '../documents/ingestion/documents.ts'
import type { Phase } from '../operator/admin/server-state.ts'
import { Audit } from '../operator/audit/audit.ts'
import { auditReads, auditSearches } from '../operator/audit/audited-reads.ts'
import { createChangeRecord } from '../operator/audit/targets.ts'
import { Keys } from '../operator/keys/keys.ts'
import { Activity } from '../operator/ops/activity.ts'
import { notLaunched } from '../operator/ops/readiness.ts'
import { createRunHistory } from '../operator/ops/runs.ts'
import { composeAdmin, type ProcessParts } from './admin.ts'
import { type AgentSide, openAgentSide } from './agent.ts'
import { Background } from './background.ts'
import { createSearch, openCorpus } from './corpus.ts'
import { checkNextStart, type Knowledge, openKnowledge } from './knowledge.ts'
import { createModel, embeddingModel } from './models.ts'
import { openOperator } from './operator.ts'
import { composePeople, type PeopleSide } from './people.ts'

export type { ProcessParts } from './admin.ts'

/** No refusal: where the folder is a volume, as in a container, the first save makes the file. */
const NO_AGENT_FILE =
  'AGENT_CONFIG names a file that does not exist: using the default agent, with all its tools. Saving on the Agent page creates the file.'

/** Builds the whole server; only `src/compose/` knows which stores, indexes and models there are. */
export async function compose(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  process: ProcessParts,
) {
  const { environment, signal, activity } = process
  const loaded = await loadAgentFile(config, environment, log)
  // Closed in reverse order; also if a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const model = createModel(config, log)
  let running: AgentSide | undefined
  const terms = () => running?.host.current.configuration ?? loaded.configuration
  const ownKnowledge = await openKnowledge(config, { model, terms }, log, onFatal, signal)
  opened.defer(ownKnowledge.close)
  const audit = new Audit({ store: ownKnowledge.store.audit, days: config.AUDIT_DAYS, log })
  opened.defer(() => audit.close())
  const store = auditReads(ownKnowledge.store, audit)
  const knowledge = { ...ownKnowledge, store }
  const { metrics } = knowledge
  // Of the documents that a search reads, only those are noted that it shows.
  const searching = createSearch(config, ownKnowledge, model, log)
  const search = { ...searching, retrieval: auditSearches(searching.retrieval, audit) }
  const corpus = openCorpus(config, knowledge, search.retrieval, log)
  opened.defer(corpus.close)
  const keys = new Keys({ store: store.keys, ledger: knowledge.usage.ledger, log })
  opened.defer(() => keys.close())
  const people = composePeople(config, store, corpus)
  const runs = createRunHistory({ store: store.runRecords, maximum: config.RUNS_KEPT, log })
  opened.defer(async () => void (await runs.close()))
  const agents = await openAgentSide({
    config,
    configuration: loaded.configuration,
    environment,
    log,
    model,
    retrieval: search.retrieval,
    termsOf: search.termsOf,
    metrics,
    store,
    runs,
    payment: knowledge.usage.ledger,
  })
  running = agents
  opened.defer(agents.close)
  const operator = openOperator({
    config,
    log,
    process,
    phase: { state: 'running', reason: process.wentBack },
    server: {
      agents,
      runs,
      store,
      keys,
      usage: knowledge.usage.reports,
      folders: corpus.folders,
      people: people.admin,
      audit,
      checkStart: (next, triesStore) => checkNextStart(next, config, triesStore && log, store),
    },
    knowledge,
    search,
    model,
  })
  const background = new Background(log)
  opened.defer(() => background.ended())
  const services = await composeServices({
    config,
    knowledge,
    corpus,
    keys,
    people,
    audit,
    agents,
    operator,
  })
  const closing = opened.move()
  const begin = async (running: AbortSignal) => {
    closing.defer(activity.watch(metrics))
    agents.start()
    await knowledge.start(running)
    await corpus.start(running)
    background.add(operator.run(running))
  }
  return {
    services,
    /** Warns of processes that cannot be started here. */
    warn: operator.warn,
    ...startAndClose(begin, () => closing.disposeAsync()),
  }
}

function startAndClose(begin: (running: AbortSignal) => Promise<void>, close: () => Promise<void>) {
  const stopping = new AbortController()
  return {
    /**
     * Brings the index up to date, then starts ingestion. Resolves when ingestion has started, or when a close has ended
     * the start: nothing of it has failed then, and the next one continues from there.
     */
    start: () =>
      begin(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error
      }),
    /** Finishes work in flight within bounded time, and closes everything that was opened. */
    close() {
      stopping.abort()
      return close()
    },
  }
}

interface ServiceParts {
  config: Config
  knowledge: Knowledge
  corpus: ReturnType<typeof openCorpus>
  keys: Keys
  people: PeopleSide
  audit: Audit
  agents: AgentSide
  operator: ReturnType<typeof openOperator>
}

async function composeServices(parts: ServiceParts): Promise<Services> {
  const { config, knowledge, corpus, keys, operator } = parts
  const { agent, dialects, host, changes, model, artifacts, artifactLinks } = parts.agents
  const { store, embedding, metrics } = knowledge
  const { corpusFor } = corpus
  const readFiles = createAttachedFiles({ ...knowledge, corpusFor })
  // Loaded only now, while a thread loads the index, like the routes.
  const { composeConversations } = await import('./conversations.ts')
  return {
    corpus: {
      corpusFor,
      maxFileBytes: config.FILE_LIMIT,
      admission: createAdmission(store, config.INGEST_QUEUE_LIMIT),
      artifacts,
      artifactLinks,
    },
    agent: {
      agent,
      dialects,
      host,
      skills: () => host.current.skills.active(),
      agentChanges: changes,
      description: operator.description,
      readFiles,
    },
    usage: knowledge.usage.reports,
    conversations: composeConversations({
      store,
      agent,
      linkFor: artifactLinks.linkFor,
      readFiles,
      ...corpus,
    }),
    operator: {
      ...operator,
      keys,
      metrics,
      people: parts.people.people,
      company: parts.people.company,
      audit: parts.audit,
      recordChange: createChangeRecord(parts.audit),
    },
    features: {
      keyStore: store.keys,
      records: store.responses,
      collectionNames: store.collectionNames,
      embedding,
      payment: knowledge.usage.ledger,
      questionStore: store.questions,
      evaluationStore: store.evaluations,
      judgeModel: model,
      search: (query, caller, signal) =>
        agent.query(query, { caller, retrieval: corpusFor(caller).retrieval }, signal),
    },
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
  for (const path of loaded.former)
    log.warn({ file }, `${path} ${renamedTo(FORMER_FIELDS[path] ?? '')}`)
  return loaded
}

export type { Phase, RestartAs } from '../operator/admin/server-state.ts'

/** Where a process writes its log besides its output, so that the web UI can show it. */
export const openActivity = () => new Activity()

/**
 * The services of a server that is not launched: only those to set it up. Opens nothing that stores or finds documents.
 */
export async function composeIdle(
  config: Config,
  log: FastifyBaseLogger,
  phase: Phase,
  process: ProcessParts,
) {
  return {
    admin: composeAdmin({ config, log, process, phase }),
    readiness: notLaunched(
      phase.reason ?? 'The server is stopped until it is started again',
      embeddingModel(config) === undefined ? 'lexical' : 'hybrid',
    ),
  }
}
