import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * This process's compile cache, if it has one: within the directory that was named, which may hold others.
 * Processes that read untrusted files only read the cache: if one were taken over, the server would run what it had
 * written there.
 */
export const COMPILE_CACHE = getCompileCacheDir()

/** The file in a cache that marks the modules of jobs as compiled; it is lost with the packages, as the cache is. */
export const noteIn = (directory: string) => join(directory, `jobs-${process.version}`)
const NOTE = COMPILE_CACHE && noteIn(dirname(COMPILE_CACHE))
/** Long enough that someone who has just started the server does not wait for it. */
const DELAY_MS = 60_000
/** A generous limit for some seconds of work, which runs at the lowest priority. */
const MAX_MS = 300_000

export function notePrecompiled(): void {
  if (NOTE) writeFileSync(NOTE, '')
}

/** Runs `main precompile` to compile the modules of jobs, once and in the background. Does nothing without a cache. */
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
  // If it does not start, or has ended already, the next start of the server tries again.
  setTimeout(() => void start().catch(() => undefined), delayMs).unref()
}
