import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

const ENTRY = {
  biome: '@biomejs/biome/bin/biome',
  oxlint: 'oxlint/bin/oxlint',
  tsc: 'typescript/bin/tsc',
  vitest: 'vitest/vitest.mjs',
}

export type Tool = keyof typeof ENTRY

/** A cache of compiled modules: with it, starting the threads and processes of tests takes a third of the time. */
const NODE_COMPILE_CACHE = resolve('node_modules/.cache/node')

/** Runs an installed npm tool with the current Node.js. Returns whether it exited with code 0. */
export function runTool(tool: Tool, ...parameters: string[]): Promise<boolean> {
  return runToolWith({}, tool, ...parameters)
}

/** Like `runTool`, with variables that are used where the environment does not set them. */
export async function runToolWith(
  variables: Record<string, string>,
  tool: Tool,
  ...parameters: string[]
): Promise<boolean> {
  const entry = `node_modules/${ENTRY[tool]}`
  const child = spawn(process.execPath, [entry, ...parameters], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE, ...variables, ...process.env },
  })
  const [code] = await once(child, 'exit')
  return code === 0
}
