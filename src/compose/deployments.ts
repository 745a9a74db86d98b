import { resolve } from 'node:path'
import { loadConfig, settingsOf } from '../config.ts'
import { isMissing } from '../lib/files.ts'
import type {
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
} from '../schemas/operator/deployment.ts'
import type { SettingsService } from '../services/admin/settings.ts'
import { AgentConfigurationError } from '../services/agent/configuration.ts'
import type { AgentSource } from '../services/deployment/project.ts'
import type { Problem } from '../services/deployment/target.ts'

/** Loaded when somebody asks: most servers never deploy another. */
const load = () => import('../services/deployment/generate.ts')

const ROOT = resolve(import.meta.dirname, '../..')

/** What `npm run deploy` would write, of the settings and the agent configuration as they are on disk. */
export function composeDeployments(settings: Pick<SettingsService, 'preview'>) {
  return {
    targets: async (): Promise<DeploymentTargets> => ({ targets: (await load()).TARGET_TITLES }),

    /** Throws `invalid_request` for settings that no server would start with. */
    async make({ target, instances, domain }: DeploymentRequest): Promise<Deployment> {
      const nothing = { target, files: [], secrets: [], commands: [], warnings: [] }
      const environment = await settings.preview({ set: {}, clear: [] })
      const config = loadConfig(environment)
      const source = await readSource(config.AGENT_CONFIG)
      if ('remedy' in source) return { ...nothing, refusals: [source] }
      const folder = `deployment/${target}`
      const numbers = { ...settingsOf(environment, config), instances, folder }
      const { generate } = await load()
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
