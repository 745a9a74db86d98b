import { basename, resolve } from 'node:path'
import { CLIENTS, clientsAreInstalled } from '../test/support/clients.ts'
import { runTool } from './run-tool.ts'

const TYPES = resolve('node_modules/.cache/types')

const CHECKS = {
  types: async () =>
    (await runTypes('.')) &&
    (await runTypes('ui')) &&
    (!clientsAreInstalled() || runTypes(CLIENTS)),
  style: () => runTool('biome', 'check', '--error-on-warnings'),
  promises: () => runTool('oxlint', '--type-aware', '--deny-warnings'),
}

export type CheckName = keyof typeof CHECKS

export const CHECK_NAMES: readonly CheckName[] = ['types', 'style', 'promises']

/** Incremental: what has not changed since the last run is not checked again. */
const runTypes = (project: string) =>
  runTool(
    'tsc',
    '--project',
    project,
    '--incremental',
    '--tsBuildInfoFile',
    `${TYPES}/${basename(resolve(project))}.json`,
  )

/** Runs all of the checks, one after the other; returns those that failed. */
export async function runChecks(names: readonly CheckName[]): Promise<CheckName[]> {
  const failed: CheckName[] = []
  for (const name of names) {
    console.log(`\n> ${name}`)
    if (!(await CHECKS[name]())) failed.push(name)
  }
  return failed
}

if (import.meta.main) {
  const selection = process.argv.slice(2)
  const names = CHECK_NAMES.filter((name) => selection.length === 0 || selection.includes(name))
  if (names.length === 0)
    throw new Error(`There is no such check; there are: ${CHECK_NAMES.join(', ')}`)
  const failed = await runChecks(names)
  console.log(failed.length === 0 ? '\nall is well' : `\nfailed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
