import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lastTime, moveTimes } from '../age.ts'
import { temporaryDirectory } from '../temporary-files.ts'
import { FROZEN } from './open.ts'

const run = promisify(execFile)
export const ARCHIVE = join(FROZEN, 'data.tar.gz')
/** What a server of the version finds in the data. */
export const INVENTORY = join(FROZEN, 'sqlite.json')

/** The data of the version, in a folder of their own, as if they had been written a minute ago. */
export async function thawed(): Promise<string> {
  const parent = await temporaryDirectory()
  await run('tar', ['-xzf', ARCHIVE, '-C', parent])
  const directory = join(parent, 'data')
  const file = join(directory, 'agent-server.db')
  // Retention must not take away what the test looks for, in whichever year it runs.
  moveTimes(file, Date.now() - 60_000 - lastTime(file))
  return directory
}
