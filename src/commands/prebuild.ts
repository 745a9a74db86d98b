import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { notePrecompiled } from '../lib/processes/precompile.ts'
import { prebuild } from '../services/screen/bundle.ts'
import type { Command } from './command.ts'

const SOURCE = new URL('..', import.meta.url)
/** Makes the screen's files ahead of time: the container image carries them and no sources. */
export const runPrebuildScreen: Command = async ({ stderr }) => {
  await prebuild(fileURLToPath(new URL('../ui', SOURCE)))
  stderr.write('The screen is bundled\n')
  return 0
}

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
