import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { VARIABLE_NAMES } from '../config.ts'
import { exists, readIfPresent } from '../lib/files.ts'
import { loadConfiguration } from '../services/agent/configuration.ts'
import { generate, TARGET_NAMES } from '../services/deployment/generate.ts'
import { fromProject } from '../services/deployment/problems.ts'
import type { AgentSource, Problem } from '../services/deployment/target.ts'
import { isRemoteSource } from '../services/skills/remote.ts'
import { type Command, type CommandContext, parseParameters } from './command.ts'
import { verifyDeployment } from './verify-deployment.ts'

const USAGE = `Usage: npm run deploy -- <target> [options]

Writes what brings this agent to a place to run, from the configuration that runs here.
Targets: ${TARGET_NAMES.join(', ')}

  --out FOLDER       where to write, within the project; by itself deployment/<target>
  --check            write nothing; fail where the files there are not what would be written
  --force            replace files that were edited
  --instances N      servers side by side; by itself 1
  --domain NAME      the name that it will be called by

npm run deploy -- verify <url> tries a server that was deployed.
`

const OPTIONS = {
  out: { type: 'string' },
  check: { type: 'boolean' },
  force: { type: 'boolean' },
  instances: { type: 'string' },
  domain: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** What deployments are made of. */
const PROJECT_FILES = [
  ...['Dockerfile', '.dockerignore', 'docker-compose.yml'],
  ...['kustomization', 'namespace', 'agent-server', 'qdrant'].map(
    (name) => `deploy/kubernetes/${name}.yaml`,
  ),
]
const ROOT = resolve(import.meta.dirname, '../..')

/** `npm run deploy -- <target>`, or `-- verify <url>`. */
export const runDeploy: Command = (context) =>
  context.parameters[0] === 'verify' ? verifyDeployment(context) : writeDeployment(context)

/** Answers 1 where something stands against it, or `--check` finds a difference. */
async function writeDeployment(context: CommandContext): Promise<number> {
  const { stderr } = context
  const parsed = readDeployParameters(context.parameters)
  if (!parsed) {
    stderr.write(USAGE)
    return 2
  }
  const { target, folder, options } = parsed
  const made = generate(await readAgent(context), readSettings(context, parsed), target)
  if ('refusals' in made) {
    stderr.write(`Nothing is written:\n${made.refusals.map(tell).join('')}`)
    return 1
  }
  const { files, secrets, warnings } = made
  const differing = await differences(folder, files)
  if (options.check) {
    const lines = differing.map(({ name, state }) => `  ${name}: ${state}\n`)
    stderr.write(
      lines.length === 0 ? 'Nothing has changed\n' : `Not as written:\n${lines.join('')}`,
    )
    return lines.length === 0 ? 0 : 1
  }
  const edited = differing.filter(({ state }) => state === 'differs')
  if (edited.length > 0 && !options.force) {
    const names = edited.map(({ name }) => `  ${join(folder, name)}\n`)
    stderr.write(`Nothing is written. These differ, and --force replaces them:\n${names.join('')}`)
    return 1
  }
  await mkdir(join(ROOT, folder), { recursive: true })
  for (const { name } of differing) await writeFile(join(ROOT, folder, name), files[name] ?? '')
  const known = warnings.length > 0 ? `To be known:\n${warnings.map(tell).join('')}` : ''
  stderr.write(`${known}Secrets to set: ${secrets.join(', ')}\nGo on with ${folder}/DEPLOY.md\n`)
  return 0
}

function tell({ field, message, remedy }: Problem): string {
  return `  ${field} ${message}\n    remedy: ${remedy}\n`
}

interface DeployParameters {
  target: string
  /** Relative to the project, with forward slashes. */
  folder: string
  options: { check?: boolean; force?: boolean; domain?: string }
  instances: number
}

/** Nothing where the command is to say how it is called. Throws an Error that names the option at fault. */
export function readDeployParameters(parameters: readonly string[]): DeployParameters | undefined {
  const { values, positionals } = parseParameters(parameters, OPTIONS)
  const [target, ...more] = positionals
  if (target === undefined || more.length > 0 || values.help) return undefined
  const { out, instances: count = '1', ...options } = values
  if (!/^\d{1,3}$/.test(count)) throw new Error('--instances must be a number, at most 999')
  if (options.domain !== undefined && !/^[\w.-]{1,253}(?::\d+)?$/.test(options.domain)) {
    throw new Error('--domain must be a name like agent.example.org')
  }
  const folder = toRelative(resolve(out ?? join(ROOT, 'deployment', basename(target))))
  return { target, folder, options, instances: Number(count) }
}

function toRelative(path: string): string {
  return relative(ROOT, path).split(sep).join('/')
}

async function readAgent({ config }: CommandContext): Promise<AgentSource> {
  const file = resolve(config().AGENT_CONFIG)
  const { configuration, found } = await loadConfiguration(file)
  const path = toRelative(file)
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const sources = configuration.skills.sources.filter((source) => !isRemoteSource(source))
  const named = [...sources, ...configuration.plugins].map((name) => fromProject(path, name))
  const missing: string[] = []
  for (const name of new Set(named)) if (!(await exists(resolve(ROOT, name)))) missing.push(name)
  const files: Record<string, string> = {}
  for (const name of PROJECT_FILES) files[name] = await readFile(join(ROOT, name), 'utf8')
  return { configuration, missing, project: { version, files }, ...(found && { path }) }
}

function readSettings({ config, environment }: CommandContext, parsed: DeployParameters) {
  const { folder, instances, options } = parsed
  const set = VARIABLE_NAMES.flatMap((name) => {
    const value = environment[name]
    return value ? [[name, value] as const] : []
  })
  const { SHUTDOWN_GRACE: grace, FILE_LIMIT: fileLimit } = config()
  const { domain } = options
  const variables = Object.fromEntries(set)
  return { variables, grace, fileLimit, instances, folder, ...(domain && { domain }) }
}

async function differences(folder: string, files: Readonly<Record<string, string>>) {
  const found: { name: string; state: 'missing' | 'differs' }[] = []
  for (const [name, text] of Object.entries(files)) {
    const there = await readIfPresent(join(ROOT, dirname(join(folder, name)), basename(name)))
    if (there === undefined) found.push({ name, state: 'missing' })
    else if (there.toString() !== text) found.push({ name, state: 'differs' })
  }
  return found
}
