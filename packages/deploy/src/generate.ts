import { isSecret } from '@agent-server/lib/environment.ts'
import { imageFiles } from './image.ts'
import { planDeployment } from './plan.ts'
import { refusalsOf, warningsOf } from './problems.ts'
import type { AgentSource } from './project.ts'
import type { DeploymentSettings, Problem } from './settings.ts'
import type { Command, Plan, Rendering, Target } from './target.ts'
import { aws } from './targets/aws.ts'
import { azure } from './targets/azure.ts'
import { cloudRun } from './targets/cloud-run.ts'
import { compose } from './targets/compose.ts'
import { digitalocean } from './targets/digitalocean.ts'
import { fly } from './targets/fly.ts'
import { kamal } from './targets/kamal.ts'
import { kubernetes } from './targets/kubernetes.ts'
import { railway } from './targets/railway.ts'
import { render } from './targets/render.ts'

const TARGETS: readonly Target[] = [
  compose,
  kubernetes,
  fly,
  render,
  railway,
  cloudRun,
  azure,
  aws,
  kamal,
  digitalocean,
]
export const TARGET_NAMES = TARGETS.map(({ name }) => name)
export const TARGET_TITLES = TARGETS.map(({ name, title }) => ({ name, title }))

/** Places that cannot be deployed to, each with the reason and an alternative. */
const IMPOSSIBLE: Readonly<Record<string, Omit<Problem, 'field'>>> = {
  workers: {
    message: 'does not load native modules, which the server needs, and keeps no process running',
    remedy: 'use fly or cloud-run',
  },
  vercel: {
    message: 'runs functions that end with their response and cannot load all native modules',
    remedy: 'use render or railway',
  },
  lambda: {
    message:
      'stops after each response, so documents would not be ingested, and buffers streams by default',
    remedy: 'use aws, which deploys to ECS',
  },
}

const DATABASE_BACKUP =
  '# All documents are in PostgreSQL; the search index can be rebuilt from them.\npg_dump "$DATABASE_URL" | gzip > backup.sql.gz'

/** Shorter values, such as `x` for a server that asks for no key, occur inside other words by chance. */
const MIN_SECRET_CHARACTERS = 8

export type Deployment =
  | {
      files: Readonly<Record<string, string>>
      /** Names of variables whose values are set at the platform. */
      secrets: readonly string[]
      commands: readonly Command[]
      warnings: readonly Problem[]
    }
  | { refusals: readonly Problem[] }

/** Generates the files that deploy an agent, or lists everything that prevents it. Reads and writes no files. */
export function generate(
  agent: AgentSource,
  settings: DeploymentSettings,
  name: string,
): Deployment {
  const target = TARGETS.find((one) => one.name === name)
  if (!target) return { refusals: [refuseTarget(name)] }
  const refusals = refusalsOf(agent, settings, target)
  if (refusals.length > 0) return { refusals }
  const plan = planDeployment(agent, settings, target)
  const warnings = warningsOf(agent, settings, target)
  const { files, ...rest } = stepsOf(target.render(plan), plan)
  const guide = writeGuide(target, plan, rest, warnings)
  const all = { ...imageFiles(plan), ...files, 'DEPLOY.md': guide }
  const leaks = leaksOf(all, settings.variables)
  if (leaks.length > 0) return { refusals: leaks }
  const { secrets } = plan
  const commands = [
    ...rest.prepare,
    ...secrets.map((one) => ({ title: `Set ${one}`, run: target.setSecret(one, plan) })),
    ...rest.deploy,
  ]
  return { files: all, secrets, commands, warnings }
}

/** With the steps for the domain among those of the deployment, if there is one. */
function stepsOf({ prepare = [], deploy, domain = [], ...rest }: Rendering, { host }: Plan) {
  return { ...rest, prepare, deploy: host ? [...deploy, ...domain] : deploy }
}

function refuseTarget(name: string): Problem {
  const field = 'target'
  const problem = Object.hasOwn(IMPOSSIBLE, name) ? IMPOSSIBLE[name] : undefined
  if (problem) return { field, message: `${name} ${problem.message}`, remedy: problem.remedy }
  return {
    field,
    message: `${name} is not a known target`,
    remedy: `use one of ${TARGET_NAMES.join(', ')}`,
  }
}

/** A refusal for each secret whose value would appear in a file. */
function leaksOf(
  files: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Problem[] {
  const texts = Object.entries(files)
  return Object.entries(variables)
    .filter(([name, value]) => isSecret(name, value) && value.length >= MIN_SECRET_CHARACTERS)
    .flatMap(([field, value]) => {
      const [file] = texts.find(([, text]) => text.includes(value)) ?? []
      if (file === undefined) return []
      const message = `has a value that also occurs elsewhere in the configuration and would be written to ${file}`
      return [{ field, message, remedy: 'use a different value' }]
    })
}

/** Writes DEPLOY.md: what to do in which order. It names secrets but contains no values. */
function writeGuide(
  target: Target,
  plan: Plan,
  { prepare, deploy, update, rollback, backup, costs }: Omit<ReturnType<typeof stepsOf>, 'files'>,
  warnings: readonly Problem[],
): string {
  const { domain, secrets } = plan
  const url = `https://${domain ?? 'ADDRESS'}`
  const format = ({ title, run }: Command) => `${title}.\n\n${shell(run)}`
  const steps = [
    ...prepare.map(format),
    `Set the secrets: ${secrets.join(', ')}. The generated files contain only their names.\n\n${shell(...secrets.map((name) => target.setSecret(name, plan)))}`,
    ...deploy.map(format),
    `Verify the deployment, using its SERVER_API_KEY.\n\n${shell(`AGENT_SERVER_KEY=… npm run deploy -- verify ${url}`)}`,
  ]
  const known = warnings.map(
    ({ field, message, remedy }) => `- \`${field}\` ${message}. To fix this: ${remedy}.\n`,
  )
  return `# Agent Server on ${target.title}

Generated by \`npm run deploy -- ${parametersOf(target, plan)}\`. Run that command again after a change instead of editing these files. Run all commands in the project's folder.

${known.length > 0 ? `## Warnings\n\n${known.join('')}\n` : ''}## First deployment

${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}
## Update

${shell(update)}
## Rollback

${shell(rollback)}
An older server cannot open data that a newer one has migrated. In that case, also restore the backup.

## Backup

${shell(plan.isShared || !backup ? DATABASE_BACKUP : backup)}
To restore a backup, see docs/guides/operations.md.

## Costs

${sentence(costs)} The model's tokens and, if code is run at E2B, its running time are charged separately.
`
}

/** What `npm run deploy` was called with; `--check` reads it from DEPLOY.md. */
function parametersOf({ name }: Target, { folder, instances, domain }: Plan): string {
  return [
    name,
    ...(folder === `deployment/${name}` ? [] : [`--out ${folder}`]),
    ...(instances === 1 ? [] : [`--instances ${instances}`]),
    ...(domain ? [`--domain ${domain}`] : []),
  ].join(' ')
}

function shell(...commands: string[]): string {
  return `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
