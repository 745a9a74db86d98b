import { watch } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Launched } from '../../support/server-process.ts'
import type { SeededRandom } from './seeded-random.ts'

const MAX_WORK_MS = 1_000
const MAX_START_MS = 2_000
const MAX_STOP_MS = 10_000
/** Writing the index makes about so many events in its directory: files are made, written, renamed and removed. */
const MAX_EVENTS = 6

/** Lets the server work for a random while, then kills it. */
export async function killWhileWorking(server: Launched, random: SeededRandom): Promise<void> {
  await pause(random.between(0, MAX_WORK_MS))
  server.send('SIGKILL')
  await server.exited
}

/** Stops the server in order, and kills it while it writes its index. */
export async function killWhileStopping(
  server: Launched,
  data: string,
  random: SeededRandom,
): Promise<void> {
  await pause(random.between(0, MAX_WORK_MS))
  const killed = killAtEvent(server, data, random.between(1, MAX_EVENTS), MAX_STOP_MS)
  server.send('SIGTERM')
  await killed
}

/** Kills a server that has just been started, as it loads, completes or writes its index. */
export async function killWhileStarting(
  server: Launched,
  data: string,
  random: SeededRandom,
): Promise<void> {
  const longest = random.between(0, MAX_START_MS)
  await killAtEvent(server, data, random.between(1, MAX_EVENTS), longest)
}

/** Kills the server at the `count`th thing that happens in the directory of its index, or after `longest`. */
async function killAtEvent(
  server: Launched,
  data: string,
  count: number,
  longest: number,
): Promise<void> {
  const directory = join(data, 'index')
  await mkdir(directory, { recursive: true })
  let left = count
  const watcher = watch(directory, () => {
    left -= 1
    if (left === 0) server.send('SIGKILL')
  })
  const timer = setTimeout(server.send, longest, 'SIGKILL')
  await server.exited
  clearTimeout(timer)
  watcher.close()
}

/** Whether the index was being written when the server was killed: there are files that its manifest does not name. */
export async function hasHalfSnapshot(data: string): Promise<boolean> {
  const directory = join(data, 'index')
  const files: string[] = await readdir(directory).catch(() => [])
  const manifest = files.includes('manifest.json')
    ? await readFile(join(directory, 'manifest.json'), 'utf8')
    : ''
  return files.some((file) => file !== 'manifest.json' && !manifest.includes(`"${file}"`))
}
