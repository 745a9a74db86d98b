import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { settlesWithin } from '@agent-server/lib/abort.ts'
import { type Environment, secretsIn, variablesIn } from '@agent-server/lib/environment.ts'
import type { ChatModel } from '@agent-server/models'
import type { CodeSandbox } from '@agent-server/sandboxes'
import { invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import { stopWordsOf } from '@agent-server/search'
import { createTables } from '@agent-server/tables'
import type { FastifyBaseLogger } from 'fastify'
import { AgentHost, Users } from '../agent/agent-host.ts'
import type { TermsOf } from '../agent/citations/attribution.ts'
import { type AgentConfiguration, inMode } from '../agent/configuration.ts'
import type { Mcp } from '../agent/mcp/mcp.ts'
import { hostsIn } from '../agent/run/link-filter.ts'
import { createPauses } from '../agent/run/pause.ts'
import { createAgent, type SearchingAgent } from '../agent/run/run-agent.ts'
import { createRunLimiter } from '../agent/run/run-limiter.ts'
import type { RunTraces } from '../agent/run/run-trace.ts'
import { createSentQuestions } from '../agent/run/sent-questions.ts'
import { createWindow, type ModelWindow } from '../agent/run/window.ts'
import { createArtifactLinks } from '../agent/tools/artifacts.ts'
import { createBuiltInTools } from '../agent/tools/catalogue.ts'
import { type DocumentTables, documentsWithTables } from '../agent/tools/document-tables.ts'
import { loadPlugins, type Plugins } from '../agent/tools/plugins.ts'
import { ToolRegistry } from '../agent/tools/registry.ts'
import { type Config, VARIABLE_NAMES } from '../config.ts'
import type { DraftAgent } from '../operator/admin/agent-trials.ts'
import { logRuns, type Metrics } from '../operator/ops/metrics.ts'
import type { RunHistory } from '../operator/ops/runs.ts'
import type { Retrieval } from '../retrieval/search.ts'
import type { AcceptedTools, SkillCopies } from '../stores/accepted.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'
import type { OpenedStore } from '../stores/opened-store.ts'
import {
  composeMcp,
  composeSandbox,
  composeSkills,
  type McpCalls,
  onlyCompared,
  openMcpCalls,
} from './capabilities.ts'

/** How long a new configuration waits for its connections and remote skills before it is used all the same. */
const CONNECTING_MS = 5_000

/** What the agents of a server share, whatever their configuration. */
interface Shared {
  config: Config
  log: FastifyBaseLogger
  store: OpenedStore
  model: ChatModel
  window: ModelWindow
  retrieval: Retrieval
  /** The terms by which a text is searched. */
  termsOf: TermsOf
  tables: DocumentTables
  artifacts: ArtifactStore
  metrics: Pick<Metrics, 'runs'>
}

/** A configuration, with what calls other servers. */
export interface Setup {
  configuration: AgentConfiguration
  environment: Environment
}

/** A configuration to try, with the settings of the next start for what calls other servers. */
export interface Draft extends Setup {
  config: Config
}

interface ExistingAgent {
  configuration: Pick<AgentConfiguration, 'sandbox'>
  sandbox: CodeSandbox
  mcp: Pick<Mcp, 'servers'>
}

interface AgentParts extends Setup {
  shared: Shared
  /** Differs from that of the server in what calls other servers, if it is tried. */
  config: Config
  calls: McpCalls
  pauses: ReturnType<typeof createPauses>
  sentQuestions: ReturnType<typeof createSentQuestions>
  limiter: ReturnType<typeof createRunLimiter>
  /** Records how the last answers came about; absent if nothing is recorded. */
  traces: RunTraces | undefined
  acceptedTools: Pick<AcceptedTools, 'see' | 'accept'>
  skillCopies: SkillCopies
  sandboxOwner: string
  /** The agent whose sandbox and connections are used where their settings are the same. */
  existing?: ExistingAgent | undefined
  /** Those whose code does not run again. */
  plugins?: Plugins | undefined
}

export type OpenAgent = Awaited<ReturnType<typeof openAgent>>

/** Opens everything that a configuration names, and the agent that uses it. */
async function openAgent(parts: AgentParts) {
  const { shared, config, configuration, environment, existing, acceptedTools } = parts
  const { log, model, window, retrieval, artifacts, store, tables } = shared
  await using opened = new AsyncDisposableStack()
  const keepsSandbox =
    existing && isDeepStrictEqual(existing.configuration.sandbox, configuration.sandbox)
  const sandbox = keepsSandbox
    ? existing.sandbox
    : await composeSandbox(config, configuration.sandbox, log, parts.sandboxOwner)
  if (!keepsSandbox) opened.defer(sandbox.close)
  const stopWords = new Set(stopWordsOf(config.SEARCH_LANGUAGE))
  const isStopWord = (word: string) => stopWords.has(word)
  const builtIn = createBuiltInTools(
    { config, retrieval, model, artifacts, sandbox, isStopWord, store, tables },
    configuration.tools,
  )
  const mcp = await composeMcp(configuration.mcpServers, {
    calls: parts.calls,
    environment,
    stores: { artifacts, acceptedTools },
    existing: existing?.mcp.servers,
    log,
  })
  const skills = await composeSkills(config, configuration.skills, parts.skillCopies, log)
  opened.defer(skills.close)
  const plugins = await loadPlugins({
    paths: configuration.plugins,
    existing: parts.plugins,
    configuration: config.AGENT_CONFIG,
    log,
  })
  const tools = new ToolRegistry({
    sources: [() => builtIn.tools, skills.tools, plugins.tools, mcp.tools],
    isEnabled: builtIn.isEnabled,
    refuse: skills.refuse,
    log,
  })
  const prompt = { prompt: configuration.prompt, catalogue: skills.catalogue }
  const users = new Users()
  const { limiter, traces, pauses, sentQuestions } = parts
  const agent = createAgent({
    model,
    retrieval,
    tools,
    artifacts,
    prompt,
    window,
    limits: configuration.limits,
    limiter,
    hold: () => users.hold(),
    traces,
    isStopWord,
    termsOf: shared.termsOf,
    pauses,
    sentQuestions,
    links: configuration.links,
    hosts: hostsIn(JSON.stringify(configuration)),
    endSession: (sessionId) => void sandbox.end(sessionId),
  })
  opened.move()
  return {
    configuration,
    environment,
    agent,
    mcp,
    plugins,
    prompt,
    sandbox,
    skills,
    tools,
    users,
    parts: [sandbox, skills, ...mcp.servers],
  }
}

interface HostParts extends Omit<Shared, 'window' | 'tables' | 'artifacts'>, Setup {
  runs: RunHistory
}

export type AgentSide = Awaited<ReturnType<typeof openAgentSide>>

/** The agent that answers, and how it is replaced and tried. */
export async function openAgentSide({ runs, configuration, environment, ...parts }: HostParts) {
  const { config, log, store, model, metrics } = parts
  const artifactLinks = createArtifactLinks(config.SERVER_API_KEY)
  const artifacts = artifactLinks.withLinks(store.artifacts)
  const directory = join(config.DATA_DIR, 'tables')
  const documents = documentsWithTables({ store, lookup: store.lookup })
  const tables = createTables({ directory, documents })
  const window = createWindow({ model, contextTokens: config.CHAT_CONTEXT_TOKENS, log })
  const shared = { ...parts, artifacts, tables, window }
  const calls = openMcpCalls(config)
  const observer = logRuns(metrics.runs, log)
  const newLimiter = () => createRunLimiter({ maxRuns: config.CHAT_CONCURRENCY, observer })
  const common = {
    shared,
    config,
    calls,
    pauses: createPauses(store.runs),
    sentQuestions: createSentQuestions(store),
    limiter: newLimiter(),
    acceptedTools: store.acceptedTools,
    skillCopies: store.skillCopies,
  }
  const traced = (setup: Setup) => {
    const secrets = secretsOf(setup, environment)
    const traces = config.RUNS_KEPT > 0 ? runs.hiding(secrets) : undefined
    return { ...common, ...setup, traces }
  }
  const first = { ...traced({ configuration, environment }), sandboxOwner: config.DATA_DIR }
  const host = new AgentHost<OpenAgent>(await openAgent(first), log)
  const agent: SearchingAgent = {
    run: (request, signal) => host.current.agent.run(request, signal),
    query: (query, from, signal) => host.current.agent.query(query, from, signal),
  }

  return {
    host,
    agent,
    model,
    artifacts,
    artifactLinks,
    window,
    dialects: dialectsOf(shared, () => host.current),
    start() {
      host.current.mcp.start()
      void host.current.skills.start()
    },
    /**
     * Answers with another configuration, once `commit` has succeeded. Throws AppError `invalid_request` for one that
     * cannot be opened.
     */
    replace(setup: Setup, commit: () => Promise<void>, signal: AbortSignal): Promise<void> {
      const open = (existing: OpenAgent) =>
        openAgent({
          ...traced(setup),
          existing,
          plugins: existing.plugins,
          // Not the owner that removes what earlier ones have left behind: those may still run code.
          sandboxOwner: randomUUID(),
        })
      const settle = async (next: OpenAgent, current: OpenAgent) => {
        await prepare(next, current, signal)
        await commit()
      }
      return host.swap(open, settle, signal)
    },
    openDraft: (draft: Draft, signal: AbortSignal) =>
      openDraft({ ...common, limiter: newLimiter(), plugins: host.current.plugins }, draft, signal),
    async close() {
      await host.close()
      await calls.close()
      tables.close()
    },
  }
}

/** What is never shown of a run: also values of the start, which the rest of the server still uses. */
function secretsOf({ configuration, environment }: Setup, atStart: Environment): string[] {
  const referred = variablesIn(JSON.stringify(configuration.mcpServers))
  return [atStart, environment].flatMap((each) => secretsIn(each, VARIABLE_NAMES, referred))
}

/** Throws AppError `invalid_request` for a plugin that is new and cannot be loaded; gives the rest time to connect. */
async function prepare(next: OpenAgent, current: OpenAgent, signal: AbortSignal): Promise<void> {
  const broken = next.plugins.loaded.flatMap(({ path, reason }, index) =>
    reason === undefined || current.configuration.plugins.includes(path)
      ? []
      : [{ field: `text.plugins.${index}`, message: `cannot be loaded: ${reason}` }],
  )
  if (broken.length > 0) throw invalidRequest(broken, undefined)
  const ready = Promise.all([next.mcp.connected(signal), next.skills.start()])
  await settlesWithin(ready, CONNECTING_MS)
}

/**
 * Opens an agent with another configuration beside the one that runs. It has its own connections and sandbox, accepts
 * nothing, and its runs are not kept, since nobody knows the secrets of its configuration.
 */
async function openDraft(
  common: Omit<AgentParts, keyof Setup | 'traces' | 'sandboxOwner'>,
  draft: Draft,
  signal: AbortSignal,
): Promise<DraftAgent> {
  const { shared, skillCopies } = common
  const { acceptedTools } = shared.store
  const configuration = inMode(shared.config.SERVER_MODE, draft.configuration)
  await using opened = new AsyncDisposableStack()
  const calls = openMcpCalls(draft.config)
  opened.defer(calls.close)
  const agent = await openAgent({
    ...common,
    ...draft,
    configuration,
    calls,
    traces: undefined,
    acceptedTools: onlyCompared(acceptedTools),
    skillCopies: { ...skillCopies, keep: async () => true },
    sandboxOwner: randomUUID(),
  })
  opened.defer(async () => void (await Promise.all(agent.parts.map((part) => part.close()))))
  await Promise.all([agent.mcp.connected(signal), agent.skills.reload({ accept: false }, signal)])
  const unavailable = await unavailableIn(agent)
  const kept = opened.move()
  return {
    agent: agent.agent,
    dialects: dialectsOf(shared, () => agent),
    unavailable,
    close: () => kept.disposeAsync(),
  }
}

async function unavailableIn({ mcp, skills, plugins }: OpenAgent) {
  const records = [
    ...(await mcp.records()).map((record) => ({ part: 'mcp' as const, ...record })),
    ...skills.records().map((record) => ({ part: 'skill' as const, ...record })),
    ...plugins.records().map((record) => ({ part: 'plugin' as const, ...record })),
  ]
  return records.flatMap(({ part, name, state, reason = '' }) =>
    state === 'unavailable' ? [{ part, name, reason }] : [],
  )
}

/** What dialects read of the agent that answers at the moment. */
function dialectsOf(
  { config, model }: Pick<Shared, 'config' | 'model'>,
  current: () => Pick<OpenAgent, 'configuration'>,
) {
  return {
    get modelName() {
      return current().configuration.name
    },
    defaultTopK: config.TOP_K,
    chatModel: model,
  }
}
