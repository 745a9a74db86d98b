import type { Command, Plan, Problem, Rendering, Target } from './target.ts'

/** DEPLOY.md: what to do in which order. It names secrets, and holds none. */
export function writeGuide(
  target: Target,
  plan: Plan,
  { prepare = [], deploy, update, rollback, backup, costs }: Omit<Rendering, 'files'>,
  warnings: readonly Problem[],
): string {
  const { domain, secrets } = plan
  const url = `https://${domain ?? 'ADDRESS'}`
  const format = ({ title, run }: Command) => `${title}.\n\n${shell(run)}`
  const steps = [
    ...prepare.map(format),
    `Set the secrets: ${secrets.join(', ')}. Only their names are here.\n\n${shell(...secrets.map((name) => target.setSecret(name, plan)))}`,
    ...deploy.map(format),
    `See whether it works, with the project's own client. The key is the SERVER_API_KEY of the deployment.\n\n${shell(`AGENT_SERVER_KEY=… npm run deploy -- verify ${url}`)}`,
  ]
  const known = warnings.map(
    ({ field, message, remedy }) => `- \`${field}\` ${message}. Remedy: ${remedy}.\n`,
  )
  return `# Agent Server on ${target.title}

Made by \`npm run deploy -- ${target.name}\`; make it again after a change, rather than editing it. Run the commands in the project's folder.

${known.length > 0 ? `## To be known\n\n${known.join('')}\n` : ''}## First time

${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}
## Update

${shell(update)}
## Back to what ran before

${shell(rollback)}
A server does not open data that a newer one has migrated: then restore the backup, too.

## Backup

${shell(backup)}
See docs/operations.md for how to restore.

## What it costs

${sentence(costs)} Beside it the model's tokens, and E2B's seconds where code is run there.
`
}

function shell(...commands: string[]): string {
  return `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
