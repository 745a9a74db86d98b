import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Where this process keeps the modules that it has compiled, if it does: within the directory that was named, which may
 * hold more. Processes that read others' files read them there and write none: what a file has made of one of them would
 * be run by the server.
 */
export const COMPILE_CACHE = getCompileCacheDir()

/** The file in a cache which notes that what jobs load has been compiled; lost with the packages, as the cache is. */
export const noteIn = (directory: string) => join(directory, `jobs-${process.version}`)
const NOTE = COMPILE_CACHE && noteIn(dirname(COMPILE_CACHE))
/** Long enough for whoever has just started the server not to wait for it. */
const DELAY_MS = 60_000
/** Seconds of work, which has the lowest priority. */
const MAX_MS = 300_000

export function notePrecompiled(): void {
  if (NOTE) writeFileSync(NOTE, '')
}

/** Has `main` compile what jobs load, once and in the background. Does nothing without a cache. */
export function precompileOnce(main: string, delayMs = DELAY_MS): void {
  if (!COMPILE_CACHE || !NOTE || existsSync(NOTE)) return
  const env = { NODE_COMPILE_CACHE: dirname(COMPILE_CACHE) }
  const start = async () => {
    const child = spawn(process.execPath, [main, 'precompile'], { stdio: 'ignore', env })
    child.on('error', () => undefined).unref()
    const end = setTimeout(() => child.kill('SIGKILL'), MAX_MS).unref()
    child.once('exit', () => clearTimeout(end))
    if (child.pid) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  }
  // Where it does not start, or has ended already, the next start of the server tries again.
  setTimeout(() => void start().catch(() => undefined), delayMs).unref()
}
