import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { settlesWithin } from '@agent-server/lib/abort.ts'
import { type Environment, secretsIn, variablesIn } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import { isIncluded } from '@agent-server/schemas/visibility.ts'
import { stopWordsOf } from '@agent-server/search'
import { createTables } from '@agent-server/tables'
import type { Agent, AgentRequest } from '@agent-server/wire'
import { AgentHost } from '../agent/agent-host.ts'
import { inMode } from '../agent/configuration.ts'
import { createPauses } from '../agent/run/pause.ts'
import type { SearchingAgent } from '../agent/run/run-agent.ts'
import { createRunLimiter } from '../agent/run/run-limiter.ts'
import { createSentQuestions } from '../agent/run/sent-questions.ts'
import { createWindow } from '../agent/run/window.ts'
import { createArtifactLinks } from '../agent/tools/artifacts.ts'
import { documentsWithTables } from '../agent/tools/document-tables.ts'
import { type Config, VARIABLE_NAMES } from '../config.ts'
import { createHiddenDocuments } from '../documents/hidden-documents.ts'
import type { DraftAgent } from '../operator/admin/agent-trials.ts'
import { logRuns, type Metrics } from '../operator/ops/metrics.ts'
import type { RunHistory } from '../operator/ops/runs.ts'
import { NO_ACCOUNTS, onlyCompared, openMcpCalls } from './capabilities.ts'
import { createModel } from './models.ts'
import {
  type AgentParts,
  type OpenAgent,
  openAgent,
  type Setup,
  type Shared,
} from './open-agent.ts'

/** How long a new configuration waits for its connections and remote skills before it is used all the same. */
const CONNECTING_MS = 5_000

/** A configuration to try, with the settings of the next start for what calls other servers. */
interface Draft extends Setup {
  config: Config
}

interface HostParts
  extends Setup,
    Pick<Shared, 'config' | 'log' | 'store' | 'model' | 'retrieval' | 'termsOf' | 'payment'> {
  metrics: Pick<Metrics, 'runs'>
  runs: RunHistory
}

export type AgentSide = Awaited<ReturnType<typeof openAgentSide>>

/** The agent that answers, and how it is replaced and tried. */
export async function openAgentSide({
  runs,
  metrics,
  configuration,
  environment,
  ...parts
}: HostParts) {
  const { config, log, store, model } = parts
  const artifactLinks = createArtifactLinks(config.SERVER_API_KEY)
  const artifacts = artifactLinks.withLinks(store.artifacts)
  const shared = openShared({ ...parts, artifacts })
  const calls = openMcpCalls(config)
  const observer = logRuns(metrics.runs, log)
  const newLimiter = () => createRunLimiter({ maxRuns: config.CHAT_CONCURRENCY, observer })
  const common = {
    shared,
    config,
    calls,
    limiter: newLimiter(),
    acceptedTools: store.acceptedTools,
    mcpAccounts: store.mcpAccounts,
    skillCopies: store.skillCopies,
    modelNamed: createOtherModels(config, log),
  }
  const traced = (setup: Setup) => {
    const secrets = secretsOf(setup, environment)
    const traces = config.RUNS_KEPT > 0 ? runs.hiding(secrets) : undefined
    return { ...common, ...setup, traces }
  }
  /** What the agent offers others has changed. */
  const changes = new EventEmitter<{ changed: [] }>()
  const skillsChanged = () => void changes.emit('changed')
  const first = {
    ...traced({ configuration, environment }),
    skillsChanged,
    sandboxOwner: config.DATA_DIR,
  }
  const host = new AgentHost<OpenAgent>(await openAgent(first), log)
  const agent: SearchingAgent = {
    run: (request, signal) => agentFor(host.current, request).run(request, signal),
    query: (query, from, signal) => host.current.agent.query(query, from, signal),
  }

  return {
    host,
    agent,
    changes,
    model,
    artifacts,
    artifactLinks,
    window: shared.window,
    dialects: dialectsOf(shared, () => host.current),
    start() {
      host.current.mcp.start()
      void host.current.skills.start()
    },
    /**
     * Answers with another configuration, once `commit` has succeeded. Throws AppError `invalid_request` for one that
     * cannot be opened.
     */
    async replace(setup: Setup, commit: () => Promise<void>, signal: AbortSignal): Promise<void> {
      const open = (existing: OpenAgent) =>
        openAgent({
          ...traced(setup),
          skillsChanged,
          existing,
          plugins: existing.plugins,
          // Not the owner that removes what earlier ones have left behind: those may still run code.
          sandboxOwner: randomUUID(),
        })
      const settle = async (next: OpenAgent, current: OpenAgent) => {
        await prepare(next, current, signal)
        await commit()
      }
      await host.swap(open, settle, signal)
      changes.emit('changed')
    },
    openDraft: (draft: Draft, signal: AbortSignal) =>
      openDraft({ ...common, limiter: newLimiter(), plugins: host.current.plugins }, draft, signal),
    async close() {
      await host.close()
      await calls.close()
      shared.tables.close()
    },
  }
}

function openShared(
  parts: Omit<HostParts, keyof Setup | 'metrics' | 'runs'> & Pick<Shared, 'artifacts'>,
): Shared {
  const { config, log, store, model } = parts
  const directory = join(config.DATA_DIR, 'tables')
  const documents = documentsWithTables({ store, lookup: store.lookup })
  const stopWords = new Set(stopWordsOf(config.SEARCH_LANGUAGE))
  return {
    ...parts,
    tables: createTables({ directory, documents }),
    window: createWindow({ model, contextTokens: config.CHAT_CONTEXT_TOKENS, log }),
    isStopWord: (word) => stopWords.has(word),
    pauses: createPauses(store.runs, createHiddenDocuments(store)),
    sentQuestions: createSentQuestions(store),
  }
}

/** Throws AppError `model_not_found` for an agent that the caller may not use, too. */
function agentFor({ agent, named }: OpenAgent, { agent: name, caller }: AgentRequest): Agent {
  if (name === undefined) return agent
  const other = named.get(name)
  if (other && (!caller || isIncluded(caller, other.access))) return other.agent
  throw new AppError('model_not_found', `There is no agent "${name}"`, { param: 'agent' })
}

/** Each made once, so that what its server has taught is not forgotten. */
function createOtherModels(config: Config, log: Shared['log']) {
  const models = new Map<string, Pick<Shared, 'model' | 'window'>>()
  return (name: string) => {
    const known = models.get(name)
    if (known) return known
    const model = createModel({ ...config, CHAT_MODEL: name }, log)
    const window = createWindow({ model, contextTokens: config.CHAT_CONTEXT_TOKENS, log })
    models.set(name, { model, window })
    return { model, window }
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
    mcpAccounts: NO_ACCOUNTS,
    skillCopies: { ...skillCopies, keep: async () => true },
    sandboxOwner: randomUUID(),
  })
  opened.defer(async () => void (await Promise.all(agent.parts.map((part) => part.close()))))
  await Promise.all([agent.mcp.connected(signal), agent.skills.reload({ accept: false }, signal)])
  const unavailable = await unavailableIn(agent)
  const closing = opened.move()
  return {
    agent: agent.agent,
    dialects: dialectsOf(shared, () => agent),
    unavailable,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
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
  current: () => Pick<OpenAgent, 'configuration' | 'named'>,
) {
  return {
    get modelName() {
      return current().configuration.name
    },
    get agents() {
      return current().named
    },
    defaultTopK: config.TOP_K,
    publicUrl: config.PUBLIC_URL,
    chatModel: model,
  }
}
