import { isDeepStrictEqual } from 'node:util'
import type { Environment } from '@agent-server/lib/environment.ts'
import type { ChatModel } from '@agent-server/models'
import type { CodeSandbox } from '@agent-server/sandboxes'
import type {
  AcceptedTools,
  ArtifactStore,
  McpAccountStore,
  OpenedStore,
  SkillCopies,
} from '@agent-server/stores'
import type { Payment } from '@agent-server/wire'
import type { FastifyBaseLogger } from 'fastify'
import { Users } from '../agent/agent-host.ts'
import type { TermsOf } from '../agent/citations/attribution.ts'
import type { AgentConfiguration } from '../agent/configuration.ts'
import type { Mcp } from '../agent/mcp/mcp.ts'
import { hostsIn } from '../agent/run/link-filter.ts'
import type { Pauses } from '../agent/run/pause.ts'
import { createAgent } from '../agent/run/run-agent.ts'
import type { RunLimiter } from '../agent/run/run-limiter.ts'
import type { RunTraces } from '../agent/run/run-trace.ts'
import type { SentQuestions } from '../agent/run/sent-questions.ts'
import type { ModelWindow } from '../agent/run/window.ts'
import { createBuiltInTools } from '../agent/tools/catalogue.ts'
import type { DocumentTables } from '../agent/tools/document-tables.ts'
import { loadPlugins, type Plugins } from '../agent/tools/plugins.ts'
import { ToolRegistry } from '../agent/tools/registry.ts'
import type { Config } from '../config.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { composeMcp, composeSandbox, composeSkills, type McpCalls } from './capabilities.ts'
import { openNamedAgents } from './named-agents.ts'

/** What the agents of a server share, whatever their configuration. */
export interface Shared {
  config: Config
  log: FastifyBaseLogger
  store: OpenedStore
  model: ChatModel
  window: ModelWindow
  retrieval: Retrieval
  /** The terms by which a text is searched. */
  termsOf: TermsOf
  isStopWord: (word: string) => boolean
  tables: DocumentTables
  artifacts: ArtifactStore
  pauses: Pauses
  payment: Payment
  sentQuestions: SentQuestions
}

/** A configuration, with what calls other servers. */
export interface Setup {
  configuration: AgentConfiguration
  environment: Environment
}

interface ExistingAgent {
  configuration: Pick<AgentConfiguration, 'sandbox'>
  sandbox: CodeSandbox
  mcp: Pick<Mcp, 'servers'>
}

export interface AgentParts extends Setup {
  shared: Shared
  /** Differs from that of the server in what calls other servers, if it is tried. */
  config: Config
  calls: McpCalls
  limiter: RunLimiter
  /** Records how the last answers came about; absent if nothing is recorded. */
  traces: RunTraces | undefined
  acceptedTools: Pick<AcceptedTools, 'see' | 'accept'>
  mcpAccounts: McpAccountStore
  skillCopies: SkillCopies
  /** Called when the skills have been read again. */
  skillsChanged?: (() => void) | undefined
  sandboxOwner: string
  /** Another chat model than the server's, from the same place. */
  modelNamed: (name: string) => Pick<Shared, 'model' | 'window'>
  /** The agent whose sandbox and connections are used where their settings are the same. */
  existing?: ExistingAgent | undefined
  /** Plugins whose code does not run again. */
  plugins?: Plugins | undefined
}

export type OpenAgent = Awaited<ReturnType<typeof openAgent>>

/** Opens everything that a configuration names, and the agent that uses it. */
export async function openAgent(parts: AgentParts) {
  const { shared, config, configuration, environment, existing, acceptedTools } = parts
  const { log, artifacts } = shared
  await using opened = new AsyncDisposableStack()
  const keepsSandbox =
    existing && isDeepStrictEqual(existing.configuration.sandbox, configuration.sandbox)
  const sandbox = keepsSandbox
    ? existing.sandbox
    : await composeSandbox(config, configuration.sandbox, log, parts.sandboxOwner)
  if (!keepsSandbox) opened.defer(sandbox.close)
  const builtIn = createBuiltInTools({ ...shared, sandbox }, configuration.tools)
  const mcp = await composeMcp(configuration.mcpServers, {
    calls: parts.calls,
    environment,
    stores: { artifacts, acceptedTools, mcpAccounts: parts.mcpAccounts },
    config,
    existing: existing?.mcp.servers,
    log,
  })
  const { skillCopies, skillsChanged } = parts
  const skills = await composeSkills(config, configuration.skills, skillCopies, log, skillsChanged)
  opened.defer(skills.close)
  const plugins = await loadPlugins({
    paths: configuration.plugins,
    existing: parts.plugins,
    configuration: config.AGENT_CONFIG,
    log,
  })
  const registry = { isEnabled: builtIn.isEnabled, prepare: mcp.prepare, log }
  const sources = { builtIn: () => builtIn.tools, plugins: plugins.tools, mcp: mcp.tools }
  const tools = new ToolRegistry({
    ...registry,
    sources: [sources.builtIn, skills.tools, sources.plugins, sources.mcp],
  })
  const prompt = { prompt: configuration.prompt, catalogue: skills.catalogue }
  const users = new Users()
  const common = {
    ...shared,
    name: configuration.name,
    prompt,
    limits: configuration.limits,
    citationCheck: config.CITATION_CHECK,
    limiter: parts.limiter,
    hold: () => users.hold(),
    traces: parts.traces,
    links: configuration.links,
    hosts: hostsIn(JSON.stringify(configuration)),
    endSession: (sessionId: string) => void sandbox.end(sessionId),
  }
  const { modelNamed } = parts
  const whole = { agent: common, sources, skills, registry, modelNamed }
  opened.move()
  return {
    configuration,
    environment,
    agent: createAgent({ ...common, tools }),
    /** The others of the file, by their names. */
    named: openNamedAgents(configuration.agents, whole),
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
