import { isMissing } from '@agent-server/lib/files.ts'
import type {
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
} from '@agent-server/schemas/operator/deployment.ts'
import { AgentConfigurationError } from '../../agent/configuration.ts'
import type { AgentSource } from './project.ts'
import type { Problem } from './target.ts'

/** Loaded on demand: most servers never deploy another. */
const loadGenerator = () => import('./generate.ts')

interface Dependencies {
  /** The folder of the project. */
  root: string
  /** The settings of a server that started now. Throws `invalid_request` for some that no server would start with. */
  settings: () => Promise<{
    agentConfig: string
    variables: Record<string, string>
    grace: number
    fileLimit: number
  }>
}

/** Generates what `npm run deploy` would write, from the settings and the agent configuration on disk. */
export function createDeployments({ root, settings }: Dependencies) {
  return {
    targets: async (): Promise<DeploymentTargets> => ({
      targets: (await loadGenerator()).TARGET_TITLES,
    }),

    /** Throws as `settings`. */
    async make({ target, instances, domain }: DeploymentRequest): Promise<Deployment> {
      const nothing = { target, files: [], secrets: [], commands: [], warnings: [] }
      const { agentConfig, ...given } = await settings()
      const source = await readSource(root, agentConfig)
      if ('remedy' in source) return { ...nothing, refusals: [source] }
      const numbers = { ...given, instances, folder: `deployment/${target}` }
      const { generate } = await loadGenerator()
      const made = generate(source, { ...numbers, ...(domain && { domain }) }, target)
      if ('refusals' in made) return { ...nothing, refusals: [...made.refusals] }
      return {
        target,
        files: Object.entries(made.files).map(([name, text]) => ({ name, text })),
        refusals: [],
        secrets: [...made.secrets],
        commands: [...made.commands],
        warnings: [...made.warnings],
      }
    },
  }
}

const WITHOUT_PROJECT = {
  field: 'target',
  message:
    'cannot be generated here: this installation, an npm package or a container image, lacks the files of the project that images are built from',
  remedy:
    'clone the project, copy agent.json, the files that it names and .env into it, and run npm run deploy there',
}

/** The agent and its project, or why there is none to deploy. */
export async function readSource(
  root: string,
  agentConfig: string,
): Promise<AgentSource | Problem> {
  const { readAgentSource } = await import('./project.ts')
  try {
    return await readAgentSource(root, agentConfig)
  } catch (error) {
    if (isMissing(error)) return WITHOUT_PROJECT
    if (!(error instanceof AgentConfigurationError)) throw error
    const remedy = 'correct it on the Agent page, see docs/reference/agent-configuration.md'
    return { field: 'AGENT_CONFIG', message: `cannot be used: ${error.message}`, remedy }
  }
}
