import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { readIfPresent } from '@agent-server/lib/files.ts'
import { HOST_NAME } from '@agent-server/schemas/operator/deployment.ts'
import { settingsOf } from '../config.ts'
import { readSource } from '../operator/deployment/deployments.ts'
import { type Deployment, generate, TARGET_NAMES } from '../operator/deployment/generate.ts'
import type { Problem } from '../operator/deployment/target.ts'
import { type Command, type CommandContext, parseParameters } from './command.ts'
import { verifyDeployment } from './verify-deployment.ts'

const USAGE = `Usage: npm run deploy -- <target> [options]

Writes what brings this agent to a place to run, from the configuration that runs here.
Targets: ${TARGET_NAMES.join(', ')}

  --out FOLDER       where to write, within the project; by itself deployment/<target>
  --check            write nothing; fail where the files there are not what would be written, with the
                     options that they were written with
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

const ROOT = resolve(import.meta.dirname, '../..')

/** `npm run deploy -- <target>`, or `-- verify <url>`. */
export const runDeploy: Command = (context) =>
  context.parameters[0] === 'verify' ? verifyDeployment(context) : writeDeployment(context)

/**
 * Returns 1 if the deployment is refused, `--check` finds a difference or edited files need `--force`; 2 for
 * wrong usage.
 */
async function writeDeployment(context: CommandContext): Promise<number> {
  const { stderr } = context
  const parsed = readDeployParameters(context.parameters)
  if (!parsed) {
    stderr.write(USAGE)
    return 2
  }
  const { folder, options } = parsed
  const made = await make(context, parsed)
  if ('refusals' in made) {
    stderr.write(`Nothing is written:\n${made.refusals.map(formatProblem).join('')}`)
    return 1
  }
  const { files, secrets, warnings } = made
  const differing = await differences(folder, files)
  if (options.check) {
    const lines = differing.map(({ name, state }) => `  ${name}: ${state}\n`)
    stderr.write(
      lines.length === 0
        ? 'No changes\n'
        : `Different from what would be generated:\n${lines.join('')}`,
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
  const known = warnings.length > 0 ? `Warnings:\n${warnings.map(formatProblem).join('')}` : ''
  stderr.write(`${known}Secrets to set: ${secrets.join(', ')}\nContinue with ${folder}/DEPLOY.md\n`)
  return 0
}

async function make(context: CommandContext, parsed: DeployParameters): Promise<Deployment> {
  const source = await readSource(ROOT, context.config().AGENT_CONFIG)
  if ('remedy' in source) return { refusals: [source] }
  const before = parsed.options.check ? await readRecorded(parsed.folder) : undefined
  return generate(source, readSettings(context, parsed, before), parsed.target)
}

function formatProblem({ field, message, remedy }: Problem): string {
  return `  ${field} ${message}\n    remedy: ${remedy}\n`
}

interface DeployParameters {
  target: string
  /** Relative to the project, with forward slashes. */
  folder: string
  options: { check?: boolean; force?: boolean; domain?: string }
  instances?: number | undefined
}

/** Undefined if the usage is to be printed. Throws an Error that names the option at fault. */
export function readDeployParameters(parameters: readonly string[]): DeployParameters | undefined {
  const { values, positionals } = parseParameters(parameters, OPTIONS)
  const [target, ...more] = positionals
  if (target === undefined || more.length > 0 || values.help) return undefined
  const { out, instances: count, ...options } = values
  if (count !== undefined && !/^\d{1,3}$/.test(count))
    throw new Error('--instances must be a number, at most 999')
  if (options.domain !== undefined && !HOST_NAME.test(options.domain)) {
    throw new Error('--domain must be a host name such as agent.example.org')
  }
  const folder = toRelative(resolve(out ?? join(ROOT, 'deployment', basename(target))))
  const instances = count === undefined ? undefined : Number(count)
  return { target, folder, options, instances }
}

function toRelative(path: string): string {
  return relative(ROOT, path).split(sep).join('/')
}

/** The parameters that the files of a folder were written with; undefined if there are none. */
async function readRecorded(folder: string): Promise<DeployParameters | undefined> {
  const guide = (await readIfPresent(join(ROOT, folder, 'DEPLOY.md')))?.toString() ?? ''
  const [, recorded] = /^Generated by `npm run deploy -- ([^`\n]+)`/m.exec(guide) ?? []
  return recorded === undefined ? undefined : readDeployParameters(recorded.split(' '))
}

function readSettings(
  { config, environment }: CommandContext,
  { folder, options, ...given }: DeployParameters,
  before: DeployParameters | undefined,
) {
  const instances = given.instances ?? before?.instances ?? 1
  const domain = options.domain ?? before?.options.domain
  return { ...settingsOf(environment, config()), instances, folder, ...(domain && { domain }) }
}

async function differences(folder: string, files: Readonly<Record<string, string>>) {
  const found: { name: string; state: 'missing' | 'differs' }[] = []
  for (const [name, text] of Object.entries(files)) {
    const there = await readIfPresent(join(ROOT, folder, name))
    if (there === undefined) found.push({ name, state: 'missing' })
    else if (there.toString() !== text) found.push({ name, state: 'differs' })
  }
  return found
}
