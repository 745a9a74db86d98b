import type {
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
} from '@agent-server/schemas/operator/deployment.ts'
import { type DeployedServer, readSource } from './project.ts'

/** Loaded on demand: most servers never deploy another. */
const loadGenerator = () => import('./generate.ts')

/** Generates what `npm run deploy` would write, from the settings and the agent configuration on disk. */
export function createDeployments(server: DeployedServer) {
  return {
    targets: async (): Promise<DeploymentTargets> => ({
      targets: (await loadGenerator()).TARGET_TITLES,
    }),

    /** Throws as `settings` of the server. */
    async make({ target, instances, domain }: DeploymentRequest): Promise<Deployment> {
      const nothing = { target, files: [], secrets: [], commands: [], warnings: [] }
      const source = await readSource(server)
      if ('refusals' in source) return { ...nothing, refusals: [...source.refusals] }
      const { generate } = await loadGenerator()
      const folder = `deployment/${target}`
      const settings = { ...source.settings, instances, folder, domain }
      const made = generate(source.agent, settings, target)
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
