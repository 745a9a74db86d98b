import { readFile } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { exists } from '@agent-server/lib/files.ts'
import { z } from 'zod'
import { type AgentConfiguration, loadConfiguration } from '../../agent/configuration.ts'
import { isRemoteSource } from '../../agent/skills/skills.ts'
import { INDEX_ENGINES } from './engines.ts'

/** What is to be deployed: the agent's configuration, and the project files that deployments are built from. */
export interface AgentSource {
  configuration: AgentConfiguration
  /** The agent's file relative to the project, with forward slashes; absent for the default agent. */
  path?: string
  /** Local skills and plugins that are configured but do not exist, relative to the project. */
  missing: readonly string[]
  project: {
    version: string
    /** By path: Dockerfile, .dockerignore, docker-compose.yml and the files of deploy/kubernetes. */
    files: Readonly<Record<string, string>>
  }
}

const Package = z.object({ version: z.string() })

/** The project files that deployments are built from. */
const PROJECT_FILES = [
  'Dockerfile',
  '.dockerignore',
  'docker-compose.yml',
  ...['kustomization', 'namespace', 'agent-server', ...INDEX_ENGINES.map(({ name }) => name)].map(
    (name) => `deploy/kubernetes/${name}.yaml`,
  ),
]

/**
 * Reads the agent from its file, and the project from the folder `root`. Throws if one cannot be read, such as in an
 * image without the project's own files.
 */
export async function readAgentSource(root: string, agentConfig: string): Promise<AgentSource> {
  const file = resolve(agentConfig)
  const { configuration, found } = await loadConfiguration(file)
  const path = relative(root, file).split(sep).join('/')
  const { version } = Package.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const { skills, plugins } = namedFiles(configuration, path)
  const missing: string[] = []
  for (const name of new Set([...skills, ...plugins]))
    if (!(await exists(resolve(root, name)))) missing.push(name)
  const files: Record<string, string> = {}
  for (const name of PROJECT_FILES) files[name] = await readFile(join(root, name), 'utf8')
  return { configuration, missing, project: { version, files }, ...(found && { path }) }
}

/** The agent's local skills and its plugins; their paths in `agent.json` are made relative to the project. */
export function namedFiles({ skills, plugins }: AgentConfiguration, agentFile: string) {
  const fromProject = (path: string) =>
    posix.isAbsolute(path) ? path : posix.join(posix.dirname(agentFile), path)
  const local = skills.sources.filter((source) => !isRemoteSource(source))
  return { skills: local.map(fromProject), plugins: plugins.map(fromProject) }
}
