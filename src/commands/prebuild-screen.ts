import { fileURLToPath } from 'node:url'
import { prebuild } from '../services/screen/bundle.ts'
import type { Command } from './command.ts'

/** Makes the screen's files ahead of time: the container image carries them and no sources. */
export const runPrebuildScreen: Command = async ({ stderr }) => {
  await prebuild(fileURLToPath(new URL('../../ui', import.meta.url)))
  stderr.write('The screen is bundled\n')
  return 0
}
