import { runTool } from './run-tool.ts'

const CHECKS = {
  types: async () => (await runTool('tsc', '--project', '.')) && runTool('tsc', '--project', 'ui'),
  style: () => runTool('biome', 'check', '--error-on-warnings'),
  promises: () => runTool('oxlint', '--type-aware', '--deny-warnings'),
}

export type CheckName = keyof typeof CHECKS

export const CHECK_NAMES: readonly CheckName[] = ['types', 'style', 'promises']

/** Runs the checks one after the other, all of them; answers those that failed. */
export async function runChecks(names: readonly CheckName[]): Promise<CheckName[]> {
  const failed: CheckName[] = []
  for (const name of names) {
    console.log(`\n> ${name}`)
    if (!(await CHECKS[name]())) failed.push(name)
  }
  return failed
}
