import { fileURLToPath } from 'node:url'
import { prebuild } from '../operator/web-ui/bundle.ts'
import type { Command } from './command.ts'

/** Bundles the web UI's files ahead of time: the container image has these and no sources. */
export const runPrebuildWebUi: Command = async ({ stderr }) => {
  await prebuild(fileURLToPath(new URL('../../ui', import.meta.url)))
  stderr.write('The web UI is bundled\n')
  return 0
}
