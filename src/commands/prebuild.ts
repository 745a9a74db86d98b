import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { notePrecompiled } from '../lib/processes/precompile.ts'
import { prebuild } from '../services/screen/bundle.ts'
import type { Command } from './command.ts'

const SOURCE = new URL('..', import.meta.url)
/** Bundles the screen's files ahead of time: the container image has these and no sources. */
export const runPrebuildScreen: Command = async ({ stderr }) => {
  await prebuild(fileURLToPath(new URL('../ui', SOURCE)))
  stderr.write('The screen is bundled\n')
  return 0
}

/** The modules that job processes load over time. */
export const MODULES = [
  ...['lib/processes/job-process.ts', 'models/builtin/embed-process.ts'],
  'services/{charts,extraction,forms,tables}/**/*.ts',
]

/** Loads the modules of jobs, so that they enter the compile cache, which job processes only read. */
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
