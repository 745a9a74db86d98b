import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { noteIn } from '../src/lib/processes/precompile.ts'

const ENTRY = {
  biome: '@biomejs/biome/bin/biome',
  oxlint: 'oxlint/bin/oxlint',
  tsc: 'typescript/bin/tsc',
  vitest: 'vitest/vitest.mjs',
}

export type Tool = keyof typeof ENTRY

/** Compiled modules are kept here: the threads and processes that tests start take a third of the time with it. */
const NODE_COMPILE_CACHE = resolve('node_modules/.cache/node')

/** Compiles what processes for jobs load, which add nothing themselves; once for an installation. */
export async function precompileJobs(): Promise<void> {
  if (existsSync(noteIn(NODE_COMPILE_CACHE))) return
  const env = { ...process.env, NODE_COMPILE_CACHE }
  await once(
    spawn(process.execPath, ['src/main.ts', 'precompile'], { stdio: 'ignore', env }),
    'exit',
  )
}

/** Runs a tool that npm has installed, on the Node.js that runs this. Answers whether it ended with code 0. */
export function runTool(tool: Tool, ...parameters: string[]): Promise<boolean> {
  return runToolWith({}, tool, ...parameters)
}

/** The same, with variables that the environment lacks. */
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
