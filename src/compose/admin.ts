import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, DEFAULTS, findMistakes, loadConfig, settingsOf } from '../config.ts'
import { type Environment, variablesIn } from '../lib/environment.ts'
import { isMissing } from '../lib/files.ts'
import type { SkillList } from '../schemas/agent.ts'
import type { McpTestResult } from '../schemas/mcp.ts'
import type {
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
} from '../schemas/operator/deployment.ts'
import type { SandboxReport } from '../schemas/sandbox.ts'
import { configurationOf, createAgentFile } from '../services/admin/agent-file.ts'
import { createModelTrials } from '../services/admin/model-trial.ts'
import { type BeginAnew, createServerState, type Phase } from '../services/admin/server-state.ts'
import { createSettings, type SettingsService } from '../services/admin/settings.ts'
import {
  AgentConfigurationError,
  type LoadedConfiguration,
  loadConfiguration,
} from '../services/agent/configuration.ts'
import type { AgentSource } from '../services/deployment/project.ts'
import type { Problem } from '../services/deployment/target.ts'
import type { Keys } from '../services/keys/keys.ts'
import type { Activity } from '../services/ops/activity.ts'
import type { OpenLockFile } from '../stores/lock-file.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import type { SkillCopies } from '../stores/skill-copies.ts'
import { composeMcp, composeSandbox, composeSkills } from './capabilities.ts'
import { createTriedModels } from './models.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Documents every variable. */
const EXAMPLE = join(ROOT, '.env.example')

/** Where the server's variables come from. */
export interface GivenEnvironment {
  /** Variables set before the file was read; they win over it. */
  variables: Environment
  /** The path of the file, `.env`. */
  file: string
}

interface Parts {
  activity: Activity
  keys?: Keys | undefined
  config: Config
  log: FastifyBaseLogger
  /** The variables that the server runs with. */
  environment: Environment
  given: GivenEnvironment
  loaded: Pick<LoadedConfiguration, 'changedFields'>
  stores: Pick<AgentStores, 'artifacts'>
  /** The description of the available skills at this moment, as the prompt lists them. */
  catalogue: () => string
  phase: Phase
  /** Absent if the process cannot restart itself. */
  restart: BeginAnew | undefined
  /** Throws if the open store would refuse to start with this configuration. */
  checkStart: (next: Config) => Promise<void>
}

/** Creates the services to set the server up, for its operator. */
export async function composeAdmin(parts: Parts) {
  const { config, log, environment, given, loaded, catalogue, checkStart } = parts
  const agentFile = createAgentFile({
    path: config.AGENT_CONFIG,
    directory: join(config.DATA_DIR, 'agent-versions'),
    changedFields: loaded.changedFields,
    catalogue,
  })
  const settings = createSettings({
    path: given.file,
    given: given.variables,
    // A snapshot, because the environment of a process may change.
    running: { ...environment },
    defaults: DEFAULTS,
    referred: async () => {
      const { configuration } = await agentFile.read()
      return variablesIn(JSON.stringify(configuration?.mcpServers ?? {}))
    },
    example: await readFile(EXAMPLE, 'utf8'),
    findMistakes,
  })
  const server = createServerState({
    ...{ agentFile, settings, phase: parts.phase, restart: parts.restart },
    mode: config.SERVER_MODE,
    graceSeconds: config.SHUTDOWN_GRACE,
    checkStart: async (variables) => {
      const next = loadConfig(variables)
      await loadConfiguration(next.AGENT_CONFIG)
      await checkStart(next)
    },
  })
  const models = createModelTrials({
    settings,
    createModels: (variables) => createTriedModels(loadConfig(variables), log),
  })
  const trials = composeAgentTrials({
    ...{ config, log, stores: parts.stores },
    environment: settings.environment,
  })
  const deployments = composeDeployments(settings)
  const { activity, keys } = parts
  return { ...{ activity, keys }, agentFile, settings, server, models, trials, deployments }
}

interface TrialParts {
  config: Config
  /** The environment of the next start, so that values just saved are tried, too. */
  environment: () => Promise<Environment>
  stores: Pick<AgentStores, 'artifacts'>
  log: FastifyBaseLogger
}

/**
 * Tries parts of an agent configuration without saving it, on the same code path as a run. Each throws
 * `invalid_request` for a text with mistakes; nothing found counts as accepted.
 */
function composeAgentTrials({ config, environment, stores, log }: TrialParts) {
  return {
    async mcp(text: string, name: string, signal: AbortSignal): Promise<McpTestResult> {
      const { mcpServers } = configurationOf(text)
      const tried = mcpServers[name]
      const servers = tried ? { [name]: { ...tried, enabled: true } } : {}
      const forgetful = { artifacts: stores.artifacts, openLockFile: lockFileInMemory }
      const mcp = await composeMcp(config, servers, await environment(), forgetful, log)
      try {
        return await mcp.test(name, { accept: false, arguments: {} }, signal)
      } finally {
        await mcp.close()
      }
    },

    async sandbox(text: string, signal: AbortSignal): Promise<SandboxReport> {
      const sandbox = await composeSandbox(config, configurationOf(text).sandbox, log)
      try {
        return await sandbox.verify(signal)
      } finally {
        await sandbox.close()
      }
    },

    async skills(text: string, signal: AbortSignal): Promise<SkillList> {
      const skills = await composeSkills(config, configurationOf(text).skills, NO_COPIES, log)
      try {
        return await skills.reload({ accept: false }, signal)
      } finally {
        await skills.close()
      }
    },
  }
}

const NO_COPIES: SkillCopies = {
  accepted: async () => undefined,
  read: async () => undefined,
  keep: async () => true,
}

const lockFileInMemory: OpenLockFile = async (_name, _schema, initial) => {
  let content = initial
  return {
    read: async () => content,
    async update(change) {
      content = change(content)
      return content
    },
  }
}

/** Loaded on demand: most servers never deploy another. */
const loadGenerator = () => import('../services/deployment/generate.ts')

/** Generates what `npm run deploy` would write, from the settings and the agent configuration on disk. */
function composeDeployments(settings: Pick<SettingsService, 'preview'>) {
  return {
    targets: async (): Promise<DeploymentTargets> => ({
      targets: (await loadGenerator()).TARGET_TITLES,
    }),

    /** Throws `invalid_request` for settings that no server would start with. */
    async make({ target, instances, domain }: DeploymentRequest): Promise<Deployment> {
      const nothing = { target, files: [], secrets: [], commands: [], warnings: [] }
      const environment = await settings.preview({ set: {}, clear: [] })
      const config = loadConfig(environment)
      const source = await readSource(config.AGENT_CONFIG)
      if ('remedy' in source) return { ...nothing, refusals: [source] }
      const folder = `deployment/${target}`
      const numbers = { ...settingsOf(environment, config), instances, folder }
      const { generate } = await loadGenerator()
      const made = generate(source, { ...numbers, ...(domain && { domain }) }, target)
      if ('refusals' in made) return { ...nothing, refusals: [...made.refusals] }
      const files = Object.entries(made.files).map(([name, text]) => ({ name, text }))
      const { secrets, commands, warnings } = made
      return {
        ...{ target, files, refusals: [], secrets: [...secrets] },
        ...{ commands: [...commands], warnings: [...warnings] },
      }
    },
  }
}

const WITHOUT_PROJECT = {
  field: 'target',
  message: 'cannot be made here: this installation, such as an image, lacks files of the project',
  remedy: 'ask a server that was started in a clone of the project, or npm run deploy there',
}

async function readSource(agentConfig: string): Promise<AgentSource | Problem> {
  const { readAgentSource } = await import('../services/deployment/project.ts')
  try {
    return await readAgentSource(ROOT, agentConfig)
  } catch (error) {
    if (isMissing(error)) return WITHOUT_PROJECT
    if (!(error instanceof AgentConfigurationError)) throw error
    const remedy = 'mend it on the Agent page, see docs/agent-configuration.md'
    return { field: 'AGENT_CONFIG', message: `cannot be used: ${error.message}`, remedy }
  }
}
