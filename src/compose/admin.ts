import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, DEFAULTS, findMistakes, loadConfig } from '../config.ts'
import { type Environment, variablesIn } from '../lib/environment.ts'
import { createAgentFile } from '../services/admin/agent-file.ts'
import { createModelTrials } from '../services/admin/model-trial.ts'
import { type BeginAnew, createServerState, type Phase } from '../services/admin/server-state.ts'
import { createSettings } from '../services/admin/settings.ts'
import { type LoadedConfiguration, loadConfiguration } from '../services/agent/configuration.ts'
import type { Keys } from '../services/keys/keys.ts'
import type { Activity } from '../services/ops/activity.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import { composeAgentTrials } from './agent-trials.ts'
import { composeDeployments } from './deployments.ts'
import { createTriedModels } from './models.ts'

/** Says of every variable what it is. */
const EXAMPLE = join(import.meta.dirname, '../../.env.example')

/** Where variables come from. */
export interface GivenEnvironment {
  /** What was set before the file was read, which wins over it. */
  variables: Environment
  /** The path of the file, `.env`. */
  file: string
}

interface Parts {
  activity: Activity
  keys?: Keys | undefined
  config: Config
  log: FastifyBaseLogger
  /** What the server runs with. */
  environment: Environment
  given: GivenEnvironment
  loaded: Pick<LoadedConfiguration, 'changedFields'>
  stores: Pick<AgentStores, 'artifacts'>
  /** What there is to say of the skills at this moment. */
  catalogue: () => string
  phase: Phase
  /** Absent where the process cannot. */
  restart: BeginAnew | undefined
  /** Throws where the store that is open would refuse a start with this configuration. */
  checkStart: (next: Config) => Promise<void>
}

/** How the server is set up, for whoever runs it. */
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
    // As it is now: the environment of a process may change.
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
