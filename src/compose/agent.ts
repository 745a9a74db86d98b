import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Environment } from '@agent-server/lib/environment.ts'
import type { ChatModel } from '@agent-server/models'
import { stopWordsOf } from '@agent-server/search'
import { createTables } from '@agent-server/tables'
import type { FastifyBaseLogger } from 'fastify'
import type { TermsOf } from '../agent/citations/attribution.ts'
import {
  type AgentConfiguration,
  inMode,
  type LoadedConfiguration,
} from '../agent/configuration.ts'
import { describeAgent } from '../agent/describe-agent.ts'
import { hostsIn } from '../agent/run/link-filter.ts'
import { createPauses } from '../agent/run/pause.ts'
import { roomForTools } from '../agent/run/prompt.ts'
import { createAgent } from '../agent/run/run-agent.ts'
import type { RunTraces } from '../agent/run/run-trace.ts'
import { createSentQuestions } from '../agent/run/sent-questions.ts'
import { createWindow } from '../agent/run/window.ts'
import { createArtifactLinks } from '../agent/tools/artifacts.ts'
import { createBuiltInTools } from '../agent/tools/catalogue.ts'
import { type DocumentTables, documentsWithTables } from '../agent/tools/document-tables.ts'
import { loadPlugins, type Plugins } from '../agent/tools/plugins.ts'
import { createToolRegistry } from '../agent/tools/registry.ts'
import type { Config } from '../config.ts'
import type { Retrieval } from '../knowledge/retrieval/search.ts'
import type { DraftAgent } from '../operator/admin/agent-trials.ts'
import { logRuns, type Metrics } from '../operator/ops/metrics.ts'
import type { AcceptedTools, SkillCopies } from '../stores/accepted.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'
import type { OpenedStore } from '../stores/opened-store.ts'
import { composeMcp, composeSandbox, composeSkills, onlyCompared } from './capabilities.ts'

interface Parts {
  config: Config
  environment: Environment
  loaded: LoadedConfiguration
  log: FastifyBaseLogger
  store: OpenedStore
  model: ChatModel
  retrieval: Retrieval
  embedder: Parameters<typeof describeAgent>[0]['embedder']
  /** Why there is no embedder. */
  lexicalOnly: string | undefined
  /** The reranking model's name, if there is one. */
  reranker: string | undefined
  /** The terms by which a text is searched. */
  termsOf: TermsOf
  metrics: Pick<Metrics, 'runs'>
  /** Keeps what led to the last answers; absent if nothing is kept. */
  traces: RunTraces | undefined
}

/** A configuration to try, with the settings of the next start for what calls other servers. */
export interface Draft {
  configuration: AgentConfiguration
  config: Config
  environment: Environment
}

/** The agent side: model, tools, artifacts, and the loop that combines them. */
export async function composeAgent(parts: Parts) {
  const { config, loaded, model, store, embedder, lexicalOnly, reranker } = parts
  const { configuration } = loaded
  const artifactLinks = createArtifactLinks(config.SERVER_API_KEY)
  const artifacts = artifactLinks.withLinks(store.artifacts)
  const directory = join(config.DATA_DIR, 'tables')
  const tables = createTables({
    directory,
    documents: documentsWithTables({ store, lookup: store.lookup }),
  })
  const shared = { ...parts, artifacts, tables }
  const opened = await openAgent({ ...shared, ...store, configuration })
  const { agent, mcp, plugins, prompt, sandbox, skills, tools, window } = opened

  return {
    services: {
      agent,
      conversationStore: store.conversations,
      feedbackStore: store.feedback,
      questionStore: store.questions,
      evaluationStore: store.evaluations,
      judgeModel: model,
      dialects: dialectsOf(configuration, shared),
      description: describeAgent({
        loaded,
        model,
        tools,
        window,
        roomForTools: () => roomForTools(prompt, window),
        embedder,
        lexicalOnly,
        reranker,
        mcp,
        skills,
        plugins,
        sandbox,
      }),
      artifacts,
      artifactLinks,
      mcp,
      sandbox,
      skills,
    },
    /** What every conversation begins with. */
    beginning: { prompt, tools },
    /** The sandbox, if the agent runs code. */
    usedSandbox: model.supportsTools && configuration.tools.run_python ? sandbox : undefined,
    openDraft(draft: Draft, signal: AbortSignal) {
      const isSame = isDeepStrictEqual(draft.configuration.plugins, configuration.plugins)
      return openDraft(isSame ? { ...shared, plugins } : shared, draft, signal)
    },
    start() {
      mcp.start()
      skills.start()
    },
    async close() {
      tables.close()
      await opened.close()
    },
  }
}

/** What the agents of a server share, whatever their configuration. */
interface Shared extends Parts {
  tables: DocumentTables
  artifacts: ArtifactStore
  /** Those that are loaded already, so that their code does not run again. */
  plugins?: Plugins
}

interface AgentParts extends Shared {
  configuration: AgentConfiguration
  acceptedTools: Pick<AcceptedTools, 'see' | 'accept'>
  skillCopies: SkillCopies
  sandboxOwner?: string
}

/** Opens everything that a configuration names, and the agent that uses it. */
async function openAgent(parts: AgentParts) {
  const { config, configuration, environment, log, model, retrieval, store, artifacts } = parts
  await using opened = new AsyncDisposableStack()
  const sandbox = await composeSandbox(config, configuration.sandbox, log, parts.sandboxOwner)
  opened.defer(sandbox.close)
  const stopWords = new Set(stopWordsOf(config.SEARCH_LANGUAGE))
  const isStopWord = (word: string) => stopWords.has(word)
  const { tables } = parts
  const builtIn = createBuiltInTools(
    { config, retrieval, model, artifacts, sandbox, isStopWord, store, tables },
    configuration.tools,
  )
  const mcp = await composeMcp(config, configuration.mcpServers, environment, parts, log)
  opened.defer(mcp.close)
  const skills = await composeSkills(config, configuration.skills, parts.skillCopies, log)
  opened.defer(skills.close)
  const { plugins: paths } = configuration
  const plugins =
    parts.plugins ?? (await loadPlugins({ paths, configuration: config.AGENT_CONFIG, log }))
  const tools = createToolRegistry({
    sources: [() => builtIn.tools, skills.tools, plugins.tools, mcp.tools],
    isEnabled: builtIn.isEnabled,
    refuse: skills.refuse,
    log,
  })
  const prompt = { prompt: configuration.prompt, catalogue: skills.catalogue }
  const window = createWindow({ model, contextTokens: config.CHAT_CONTEXT_TOKENS, log })
  const agent = createAgent({
    model,
    retrieval,
    tools,
    artifacts,
    prompt,
    window,
    limits: configuration.limits,
    maxRuns: config.CHAT_CONCURRENCY,
    observer: logRuns(parts.metrics.runs, log),
    traces: parts.traces,
    isStopWord,
    termsOf: parts.termsOf,
    pauses: createPauses(store.runs),
    sentQuestions: createSentQuestions(store),
    links: configuration.links,
    hosts: hostsIn(JSON.stringify(configuration)),
    endSession: (sessionId) => void sandbox.end(sessionId),
  })
  const kept = opened.move()
  const close = () => kept.disposeAsync()
  return { agent, mcp, plugins, prompt, sandbox, skills, tools, window, close }
}

/**
 * Opens an agent with another configuration beside the one that runs. It has its own connections and sandbox, accepts
 * nothing, and its runs are not kept, since nobody knows the secrets of its configuration.
 */
async function openDraft(
  shared: Shared,
  { configuration: wanted, config, environment }: Draft,
  signal: AbortSignal,
): Promise<DraftAgent> {
  const { acceptedTools, skillCopies } = shared.store
  const configuration = inMode(config.SERVER_MODE, wanted)
  await using opened = new AsyncDisposableStack()
  const draft = await openAgent({
    ...shared,
    config,
    environment,
    configuration,
    traces: undefined,
    acceptedTools: onlyCompared(acceptedTools),
    skillCopies: { ...skillCopies, keep: async () => true },
    sandboxOwner: randomUUID(),
  })
  opened.defer(draft.close)
  await Promise.all([draft.mcp.connected(signal), draft.skills.reload({ accept: false }, signal)])
  const unavailable = await unavailableIn(draft)
  const kept = opened.move()
  return {
    agent: draft.agent,
    dialects: dialectsOf(configuration, shared),
    unavailable,
    close: () => kept.disposeAsync(),
  }
}

async function unavailableIn({ mcp, skills, plugins }: Awaited<ReturnType<typeof openAgent>>) {
  const records = [
    ...(await mcp.records()).map((record) => ({ part: 'mcp' as const, ...record })),
    ...skills.records().map((record) => ({ part: 'skill' as const, ...record })),
    ...plugins.records().map((record) => ({ part: 'plugin' as const, ...record })),
  ]
  return records.flatMap(({ part, name, state, reason = '' }) =>
    state === 'unavailable' ? [{ part, name, reason }] : [],
  )
}

function dialectsOf({ name }: AgentConfiguration, { config, model }: Shared) {
  return { modelName: name, defaultTopK: config.TOP_K, chatModel: model }
}
