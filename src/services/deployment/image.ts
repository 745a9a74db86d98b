import { posix } from 'node:path'
import { type AgentSource, namedFiles } from './project.ts'
import type { Command, Plan } from './target.ts'

/** What the project's own .dockerignore lets in anyway. */
const USUAL = ['agent.json', 'skills', 'plugins', 'forms']

/** The Dockerfile, and beside it what may go into the image: the agent's own files, too, wherever they are. */
export function imageFiles({ agent }: Plan): Record<string, string> {
  const { Dockerfile = '', '.dockerignore': ignored = '' } = agent.project.files
  const added = ownFiles(agent).filter((path) => !USUAL.includes(path.split('/')[0] ?? ''))
  const lines = added.map((path) => `!${path}\n`).join('')
  // The last line that fits decides, so what must never be inside comes last.
  const never = ['**/.env', '**/.env.*', '!.env.example', '**/.git', '**/node_modules'].join('\n')
  return { Dockerfile, 'Dockerfile.dockerignore': `${ignored.trimEnd()}\n${lines}${never}\n` }
}

/** The agent's file, and what it names: of a plugin the whole folder, since it may import what lies beside it. */
function ownFiles({ configuration, path }: AgentSource): string[] {
  if (path === undefined) return []
  const { skills, plugins } = namedFiles(configuration, path)
  const folders = plugins.map((own) => (posix.dirname(own) === '.' ? own : posix.dirname(own)))
  const named = [path, ...skills, ...folders]
  return [...new Set(named.map((name) => posix.normalize(name).replace(/\/$/, '')))]
}

/** Builds the image, from the project's folder, and pushes it to its registry. */
export function buildAndPush({ folder }: Plan, tag: string): string {
  return `docker build --platform linux/amd64 --file ${folder}/Dockerfile --tag ${tag} . && docker push ${tag}`
}

/** The step that makes the volume, where documents are on one. */
export function makeVolume({ isShared }: Plan, run: string): Command[] {
  return isShared ? [] : [{ title: 'Make the volume that the documents are on', run }]
}

/** Where nothing of worth is on the servers. */
export const DATABASE_BACKUP =
  '# Documents are in PostgreSQL, which is backed up where it is; the index is made of them:\npg_dump "$DATABASE_URL" | gzip > backup.sql.gz'
