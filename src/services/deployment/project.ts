import { readFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { exists } from '../../lib/files.ts'
import { loadConfiguration } from '../agent/configuration.ts'
import { isRemoteSource } from '../skills/remote.ts'
import { fromProject } from './problems.ts'
import type { AgentSource } from './target.ts'

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
  const sources = configuration.skills.sources.filter((source) => !isRemoteSource(source))
  const named = [...sources, ...configuration.plugins].map((name) => fromProject(path, name))
  const missing: string[] = []
  for (const name of new Set(named)) if (!(await exists(resolve(root, name)))) missing.push(name)
  const files: Record<string, string> = {}
  for (const name of PROJECT_FILES) files[name] = await readFile(join(root, name), 'utf8')
  return { configuration, missing, project: { version, files }, ...(found && { path }) }
}
