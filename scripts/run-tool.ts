import { spawn } from 'node:child_process'
import { once } from 'node:events'

const ENTRY = {
  biome: '@biomejs/biome/bin/biome',
  oxlint: 'oxlint/bin/oxlint',
  tsc: 'typescript/bin/tsc',
  vitest: 'vitest/vitest.mjs',
}

export type Tool = keyof typeof ENTRY

/** Runs a tool that npm has installed, on the Node.js that runs this. Answers whether it ended with code 0. */
export async function runTool(tool: Tool, ...parameters: string[]): Promise<boolean> {
  const entry = `node_modules/${ENTRY[tool]}`
  const child = spawn(process.execPath, [entry, ...parameters], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}
