import { readFile } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { exists } from '../../lib/files.ts'
import { type AgentConfiguration, loadConfiguration } from '../agent/configuration.ts'
import { isRemoteSource } from '../skills/remote.ts'

/** What is to be deployed: the agent as it was read, and the files of the project that deployments are made of. */
export interface AgentSource {
  configuration: AgentConfiguration
  /** The agent's file with forward slashes, relative to the project; nothing where the agent is the default one. */
  path?: string
  /** What local skills and plugins name, relative to the project, but is not there. */
  missing: readonly string[]
  project: {
    version: string
    /** By path: Dockerfile, .dockerignore, docker-compose.yml and those of deploy/kubernetes. */
    files: Readonly<Record<string, string>>
  }
}

/** What deployments are made of. */
const PROJECT_FILES = [
  ...['Dockerfile', '.dockerignore', 'docker-compose.yml'],
  ...['kustomization', 'namespace', 'agent-server', 'qdrant'].map(
    (name) => `deploy/kubernetes/${name}.yaml`,
  ),
]

/** The agent of this file, and the project in the folder `root`. Throws where one cannot be read, as in an image without the project's own files. */
export async function readAgentSource(root: string, agentConfig: string): Promise<AgentSource> {
  const file = resolve(agentConfig)
  const { configuration, found } = await loadConfiguration(file)
  const path = relative(root, file).split(sep).join('/')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const { skills, plugins } = namedFiles(configuration, path)
  const missing: string[] = []
  for (const name of new Set([...skills, ...plugins]))
    if (!(await exists(resolve(root, name)))) missing.push(name)
  const files: Record<string, string> = {}
  for (const name of PROJECT_FILES) files[name] = await readFile(join(root, name), 'utf8')
  return { configuration, missing, project: { version, files }, ...(found && { path }) }
}

/** The agent's local skills and its plugins: paths as `agent.json` has them, made relative to the project. */
export function namedFiles({ skills, plugins }: AgentConfiguration, agentFile: string) {
  const fromProject = (path: string) =>
    posix.isAbsolute(path) ? path : posix.join(posix.dirname(agentFile), path)
  const local = skills.sources.filter((source) => !isRemoteSource(source))
  return { skills: local.map(fromProject), plugins: plugins.map(fromProject) }
}
