import { readFile } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { SetupError } from '@agent-server/lib/errors.ts'
import { exists, isMissing } from '@agent-server/lib/files.ts'
import { isRemoteSource } from '@agent-server/schemas/agent.ts'
import { z } from 'zod'
import { enginesOf, type Problem, type ServerSettings } from './settings.ts'

/** The part of `agent.json` that a deployment depends on; in the rest, too, secrets are looked for. */
export interface DeployedConfiguration {
  limits: { seconds: number }
  mcpServers: Readonly<Record<string, { url: string; enabled: boolean }>>
  skills: { sources: readonly string[] }
  plugins: readonly string[]
  tools: { run_python: unknown }
  /** A kind, or settings of one. */
  sandbox: string | { kind: string }
}

/** What is to be deployed: the agent's configuration, and the project files that deployments are built from. */
export interface AgentSource {
  configuration: DeployedConfiguration
  /** The agent's file relative to the project, with forward slashes; absent for the default agent. */
  path?: string
  /** Local skills and plugins that are configured but do not exist, relative to the project. */
  missing: readonly string[]
  project: {
    version: string
    /** By path: Dockerfile, .dockerignore, docker-compose.yml and the files of deploy/kubernetes and deploy/platforms. */
    files: Readonly<Record<string, string>>
  }
}

/** The server whose agent is deployed. */
export interface DeployedServer {
  /** The folder of the project. */
  root: string
  /** Reads `agent.json`, or uses the default if there is none. Throws `SetupError` for one that has mistakes. */
  readAgent(path: string): Promise<{ configuration: DeployedConfiguration; found: boolean }>
  /** The settings of a server that started now. Throws for some that no server would start with. */
  settings(): Promise<ServerSettings & { agentConfig: string }>
}

const WITHOUT_PROJECT: Problem = {
  field: 'target',
  message:
    'cannot be generated here: this installation, an npm package or a container image, lacks the files of the project that images are built from',
  remedy:
    'clone the project, copy agent.json, the files that it names and .env into it, and run npm run deploy there',
}

/** The agent and its project with the settings of the server, or why there is none to deploy. */
export async function readSource(
  server: DeployedServer,
): Promise<{ agent: AgentSource; settings: ServerSettings } | { refusals: readonly Problem[] }> {
  const { agentConfig, ...settings } = await server.settings()
  try {
    return { agent: await readAgentSource(server, agentConfig, settings), settings }
  } catch (error) {
    if (isMissing(error)) return { refusals: [WITHOUT_PROJECT] }
    if (!(error instanceof SetupError)) throw error
    const remedy = 'correct it on the Agent page, see docs/reference/agent-configuration.md'
    const message = `cannot be used: ${error.message}`
    return { refusals: [{ field: 'AGENT_CONFIG', message, remedy }] }
  }
}

/** The targets whose file is made from one of deploy/platforms. */
export const PLATFORMS = ['aws', 'azure', 'cloud-run', 'digitalocean', 'kamal', 'render']

const Package = z.object({ version: z.string() })

/** Throws if a file cannot be read, such as in an image without the project's own files. */
async function readAgentSource(
  { root, readAgent }: DeployedServer,
  agentConfig: string,
  { indexes }: ServerSettings,
): Promise<AgentSource> {
  const file = resolve(agentConfig)
  const { configuration, found } = await readAgent(file)
  const path = relative(root, file).split(sep).join('/')
  const { version } = Package.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const { skills, plugins } = namedFiles(configuration, path)
  const missing: string[] = []
  for (const name of new Set([...skills, ...plugins]))
    if (!(await exists(resolve(root, name)))) missing.push(name)
  const engines = enginesOf(indexes).map(({ name }) => name)
  const resources = ['kustomization', 'namespace', 'agent-server', ...engines]
  const manifests = [
    ...resources.map((name) => `deploy/kubernetes/${name}.yaml`),
    ...PLATFORMS.map((name) => `deploy/platforms/${name}.yaml`),
  ]
  const files: Record<string, string> = {}
  for (const name of ['Dockerfile', '.dockerignore', 'docker-compose.yml', ...manifests])
    files[name] = await readFile(join(root, name), 'utf8')
  return { configuration, missing, project: { version, files }, ...(found && { path }) }
}

/** The agent's local skills and its plugins; their paths in `agent.json` are made relative to the project. */
export function namedFiles({ skills, plugins }: DeployedConfiguration, agentFile: string) {
  const fromProject = (path: string) =>
    posix.isAbsolute(path) ? path : posix.join(posix.dirname(agentFile), path)
  const local = skills.sources.filter((source) => !isRemoteSource(source))
  return { skills: local.map(fromProject), plugins: plugins.map(fromProject) }
}

/** The kind of sandbox that runs the agent's code. */
export function sandboxOf({ sandbox }: DeployedConfiguration): string {
  return typeof sandbox === 'string' ? sandbox : sandbox.kind
}
