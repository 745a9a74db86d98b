import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { parseParameters } from '@agent-server/lib/command-line.ts'
import { readIfPresent } from '@agent-server/lib/files.ts'
import { HOST_NAME } from '@agent-server/schemas/operator/deployment.ts'
import { type DeployedServer, readSource } from './project.ts'
import type { Problem } from './settings.ts'
import type { VerifyContext } from './verify.ts'

/** Loaded when it is needed: a server asks only for the rest of this package. */
const loadGenerator = () => import('./generate.ts')

const usage = (targets: readonly string[]) => `Usage: npm run deploy -- <target> [options]

Writes what brings this agent to a place to run, from the configuration that runs here.
Targets: ${targets.join(', ')}

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

interface DeployContext extends DeployedServer, VerifyContext {}

/** `npm run deploy -- <target>`, or `-- verify <url>`. Resolves with the exit code. */
export async function deploy(context: DeployContext): Promise<number> {
  if (context.parameters[0] !== 'verify') return writeDeployment(context)
  return (await import('./verify.ts')).verifyDeployment(context)
}

/**
 * Returns 1 if the deployment is refused, `--check` finds a difference or edited files need `--force`; 2 for
 * wrong usage.
 */
async function writeDeployment(context: DeployContext): Promise<number> {
  const { stderr, root } = context
  const parsed = readDeployParameters(context.parameters, root)
  if (!parsed) {
    stderr.write(usage((await loadGenerator()).TARGET_NAMES))
    return 2
  }
  const { folder, options } = parsed
  const path = join(root, folder)
  const made = await make(context, parsed)
  if ('refusals' in made) {
    stderr.write(`Nothing is written:\n${made.refusals.map(formatProblem).join('')}`)
    return 1
  }
  const { files, secrets, warnings } = made
  const differing = await differences(path, files)
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
  await mkdir(path, { recursive: true })
  for (const { name } of differing) await writeFile(join(path, name), files[name] ?? '')
  const warningText =
    warnings.length > 0 ? `Warnings:\n${warnings.map(formatProblem).join('')}` : ''
  stderr.write(
    `${warningText}Secrets to set: ${secrets.join(', ')}\nContinue with ${folder}/DEPLOY.md\n`,
  )
  return 0
}

async function make(server: DeployedServer, { target, folder, options, ...set }: DeployParameters) {
  const source = await readSource(server)
  if ('refusals' in source) return source
  const before = options.check ? await readRecorded(folder, server.root) : undefined
  const instances = set.instances ?? before?.instances ?? 1
  const domain = options.domain ?? before?.options.domain
  const { generate } = await loadGenerator()
  return generate(source.agent, { ...source.settings, instances, folder, domain }, target)
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
export function readDeployParameters(
  parameters: readonly string[],
  root: string,
): DeployParameters | undefined {
  const { values, positionals } = parseParameters(parameters, OPTIONS)
  const [target, ...more] = positionals
  if (target === undefined || more.length > 0 || values.help) return undefined
  const { out, instances: count, ...options } = values
  if (count !== undefined && !/^\d{1,3}$/.test(count))
    throw new Error('--instances must be a number, at most 999')
  if (options.domain !== undefined && !HOST_NAME.test(options.domain)) {
    throw new Error('--domain must be a host name such as agent.example.org')
  }
  const path = resolve(out ?? join(root, 'deployment', basename(target)))
  const folder = relative(root, path).split(sep).join('/')
  const instances = count === undefined ? undefined : Number(count)
  return { target, folder, options, instances }
}

/** The parameters that the files of a folder were written with; undefined if there are none. */
async function readRecorded(folder: string, root: string) {
  const guide = (await readIfPresent(join(root, folder, 'DEPLOY.md')))?.toString() ?? ''
  const [, recorded] = /^Generated by `npm run deploy -- ([^`\n]+)`/m.exec(guide) ?? []
  return recorded === undefined ? undefined : readDeployParameters(recorded.split(' '), root)
}

async function differences(path: string, files: Readonly<Record<string, string>>) {
  const differences: { name: string; state: 'missing' | 'differs' }[] = []
  for (const [name, text] of Object.entries(files)) {
    const there = await readIfPresent(join(path, name))
    if (there === undefined) differences.push({ name, state: 'missing' })
    else if (there.toString() !== text) differences.push({ name, state: 'differs' })
  }
  return differences
}
