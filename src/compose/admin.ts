import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createDeployments } from '@agent-server/deploy'
import { checkListening } from '@agent-server/lib/check-listening.ts'
import { type Environment, variablesIn } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { AcceptedTools, ArtifactStore, OpenedStore, SkillCopies } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import { type AgentConfiguration, inMode, loadConfiguration } from '../agent/configuration.ts'
import {
  type Config,
  findMistakes,
  loadConfig,
  loadLenientConfig,
  settingsOf,
  VARIABLE_NAMES,
} from '../config.ts'
import type { Watch } from '../documents/watch/watch.ts'
import { AgentFileService } from '../operator/admin/agent-file.ts'
import { createAgentTrials } from '../operator/admin/agent-trials.ts'
import { createModelTrials } from '../operator/admin/model-trial.ts'
import { createServerState, type Phase, type Restart } from '../operator/admin/server-state.ts'
import { SettingsService } from '../operator/admin/settings.ts'
import type { Audit } from '../operator/audit/audit.ts'
import type { Keys } from '../operator/keys/keys.ts'
import type { Activity } from '../operator/ops/activity.ts'
import type { RunHistory } from '../operator/ops/runs.ts'
import { createStorageUse } from '../operator/ops/storage-use.ts'
import type { PeopleAdmin } from '../operator/people/people-admin.ts'
import type { UsageReports } from '../operator/usage/report.ts'
import { LABELS } from '../variable-labels.ts'
import { FORMER_VARIABLES, VARIABLES } from '../variables.ts'
import type { AgentSide } from './agent.ts'
import {
  composeMcp,
  composeSandbox,
  composeSkills,
  NO_ACCOUNTS,
  onlyCompared,
  openMcpCalls,
} from './capabilities.ts'
import { createTriedModels } from './models.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Where the server's variables come from. */
interface GivenEnvironment {
  /** Variables set before the file was read; they win over it. */
  variables: Environment
  /** The path of the file, `.env`. */
  file: string
}

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
  /** Where it listens, if not where the settings say. */
  address?: { host: string; port: number }
  /** Why the saved settings do not start; then the server runs with those that did. */
  wentBack?: string | undefined
}

export interface AdminParts {
  config: Config
  log: FastifyBaseLogger
  process: Omit<ProcessParts, 'signal'>
  phase: Phase
  /** Absent while the server is not launched. */
  server?: {
    agents: AgentSide
    runs: RunHistory
    store: Pick<OpenedStore, 'countRows' | 'tableBytes'> & {
      artifacts: ArtifactStore
      acceptedTools: Pick<AcceptedTools, 'accepted'>
    }
    keys: Keys
    usage: UsageReports
    folders: Pick<Watch, 'list'>
    people: PeopleAdmin
    audit: Audit
    /** Throws if the open store, or another one that is to be tried, would refuse to start with this configuration. */
    checkStart: (next: Config, triesStore: boolean) => Promise<void>
  }
}

/** Creates the services to set the server up, for its operator. */
export function composeAdmin(parts: AdminParts) {
  const { config, log, phase, server: launched } = parts
  const { given, restart, activity } = parts.process
  const { agents, checkStart } = launched ?? {}
  // A snapshot, because the environment of a process may change.
  const environment = { ...parts.process.environment }
  const host = agents?.host
  const agentFile = new AgentFileService({
    path: config.AGENT_CONFIG,
    directory: join(config.DATA_DIR, 'agent-versions'),
    mode: config.SERVER_MODE,
    running: agents && runningAgent(agents, config, () => settings.environment()),
  })
  const settings = new SettingsService({
    path: given.file,
    given: given.variables,
    // Variables that only the agent configuration refers to are read again with each configuration.
    running: (name) =>
      (VARIABLE_NAMES.includes(name) ? environment : (host?.current.environment ?? environment))[
        name
      ],
    variables: VARIABLES,
    former: FORMER_VARIABLES,
    labels: LABELS,
    referred: async () => {
      const { configuration } = await agentFile.read()
      return variablesIn(JSON.stringify(configuration?.mcpServers ?? {}))
    },
    findMistakes,
    checkAddress: (variables) => checkAddress(loadConfig(variables)),
    checkStart: async (variables, changed) => {
      const triesStore = changed.includes('DATA_DIR') || changed.includes('DATABASE_URL')
      await checkStart?.(loadConfig(variables), triesStore)
    },
  })
  // Where it was chosen by the system, it stays the same after a restart.
  const current = parts.process.address ?? { host: config.HOST, port: config.PORT }
  const checkAddress = ({ HOST: host, PORT: port }: Config) =>
    checkListening({ host, port }, current)
  const server = createServerState({
    agentFile,
    settings,
    phase,
    restart,
    mode: config.SERVER_MODE,
    graceSeconds: config.SHUTDOWN_GRACE,
    checkStart: async (variables) => {
      const next = loadConfig(variables)
      await checkAddress(next)
      await loadConfiguration(next.AGENT_CONFIG)
      await checkStart?.(next, true)
    },
  })
  const models = createModelTrials({
    settings,
    log,
    beginning: host && (() => host.current),
    createModels: (variables) => createTriedModels(loadConfig(variables), log),
  })
  const trials = composeTrials(parts, settings)
  const deployments = createDeployments({
    root: ROOT,
    readAgent: loadConfiguration,
    async settings() {
      const variables = await settings.preview({ set: {}, clear: [] })
      return settingsOf(variables, loadConfig(variables))
    },
  })
  return {
    activity,
    launched: launched && { ...launched, storageUse: createStorageUse(config, launched.store) },
    agentFile,
    settings,
    server,
    models,
    trials,
    deployments,
  }
}

function runningAgent(
  { host, replace }: AgentSide,
  { SERVER_MODE }: Config,
  nextEnvironment: () => Promise<Environment>,
) {
  return {
    configuration: () => host.current.configuration,
    catalogue: () => host.current.skills.catalogue(),
    async replace(
      requested: AgentConfiguration,
      commit: () => Promise<void>,
      signal: AbortSignal,
    ): Promise<void> {
      const configuration = inMode(SERVER_MODE, requested)
      // A variable that was just saved for a connection is used at once.
      const environment = await nextEnvironment()
      await replace({ configuration, environment }, commit, signal)
    },
  }
}

function composeTrials(
  { server, config, log }: AdminParts,
  settings: Pick<SettingsService, 'environment'>,
) {
  const { agents, store } = server ?? { store: NO_STORE }
  /** With what the next start would change of how other servers are called, so that values just saved are tried. */
  const next = async () => {
    const environment = await settings.environment()
    // Mistakes in other sections do not matter for this trial.
    const valid = loadLenientConfig(environment, config.SERVER_API_KEY)
    const { OUTBOUND_ALLOW, DOCKER_HOST, E2B_API_KEY, E2B_API_URL } = valid
    const calls = { OUTBOUND_ALLOW, DOCKER_HOST, E2B_API_KEY, E2B_API_URL }
    return { environment, config: { ...config, ...calls } }
  }
  return createAgentTrials({
    async openMcp(servers) {
      const setup = await next()
      const { artifacts, acceptedTools } = store
      const stores = {
        artifacts,
        acceptedTools: onlyCompared(acceptedTools),
        mcpAccounts: NO_ACCOUNTS,
      }
      const calls = openMcpCalls(setup.config)
      const mcp = await composeMcp(servers, { ...setup, calls, stores, log })
      return {
        ...mcp,
        async close() {
          await mcp.close()
          await calls.close()
        },
      }
    },
    // Not the running sandbox's owner, which would take its containers away.
    openSandbox: async (section) =>
      composeSandbox((await next()).config, section, log, randomUUID()),
    openSkills: async (section) => composeSkills((await next()).config, section, NO_COPIES, log),
    openAgent:
      agents &&
      (async (configuration, signal) =>
        agents.openDraft({ configuration, ...(await next()) }, signal)),
  })
}

/** Without a document store there is no place for the files of tools that are tried. */
const NO_ARTIFACTS: ArtifactStore = {
  maximumBytes: Number.POSITIVE_INFINITY,
  async add() {
    throw new AppError('not_launched', 'Files can be stored only while the server is running')
  },
  read: async () => undefined,
  remove: async () => false,
}

const NO_COPIES: SkillCopies = {
  accepted: async () => undefined,
  read: async () => undefined,
  keep: async () => true,
}

const NO_STORE = { artifacts: NO_ARTIFACTS, acceptedTools: { accepted: async () => undefined } }
