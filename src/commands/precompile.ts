import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { notePrecompiled } from '../lib/processes/precompile.ts'
import type { Command } from './command.ts'

const SOURCE = new URL('../', import.meta.url)
/** What the processes for jobs load, by and by. */
export const MODULES = [
  ...['lib/processes/job-process.ts', 'models/builtin/embed-process.ts'],
  'services/{charts,extraction,forms,tables}/**/*.ts',
]

/** Loads what jobs load, so that it comes into the cache of compiled modules, which their processes only read. */
export const runPrecompile: Command = async ({ stderr }) => {
  let modules = 0
  for await (const path of glob(MODULES, { cwd: fileURLToPath(SOURCE) })) {
    await import(new URL(path, SOURCE).href)
    modules++
  }
  notePrecompiled()
  stderr.write(`${modules} modules are compiled\n`)
  return 0
}
