import { posix } from 'node:path'
import { type AgentSource, namedFiles } from './project.ts'
import type { Plan } from './target.ts'

/** Paths that the project's own .dockerignore already admits. */
const USUAL = ['agent.json', 'skills', 'plugins', 'forms']

/** The Dockerfile, and its ignore file, which also admits the agent's own files wherever they are. */
export function imageFiles({ agent }: Plan): Record<string, string> {
  const { Dockerfile = '', '.dockerignore': ignored = '' } = agent.project.files
  const extraFiles = ownFiles(agent).filter((path) => !USUAL.includes(path.split('/')[0] ?? ''))
  const lines = extraFiles.map((path) => `!${path}\n`).join('')
  // The last matching line wins, so what must never be in the image comes last.
  const never = ['**/.env', '**/.env.*', '!.env.example', '**/.git', '**/node_modules'].join('\n')
  return { Dockerfile, 'Dockerfile.dockerignore': `${ignored.trimEnd()}\n${lines}${never}\n` }
}

/** The agent's file and the files that it names; the whole folder of plugins, since they may import files next to them. */
function ownFiles({ configuration, path }: AgentSource): string[] {
  if (path === undefined) return []
  const { skills, plugins } = namedFiles(configuration, path)
  const folder = plugins.length > 0 ? [posix.join(posix.dirname(path), 'plugins')] : []
  const paths = [path, ...skills, ...folder]
  return [...new Set(paths.map((name) => posix.normalize(name).replace(/\/$/, '')))]
}
