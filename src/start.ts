import { fileURLToPath } from 'node:url'
import { isReplaceable, replaceProcess, supervise } from './lib/processes/restart.ts'

/**
 * How much freed memory glibc keeps at the end of its heap, in bytes. This is its own first value; but only
 * where it is set does it stay, see mallopt(3). Otherwise it follows the largest block that was ever freed,
 * and after some large files the server holds on to hundreds of megabytes that it does not use.
 */
const KEPT = { name: 'MALLOC_TRIM_THRESHOLD_', bytes: '131072' }

/** Where Node.js keeps what it has compiled, at an orderly end: the next start takes half as long. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url))
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Runs `src/main.ts` with the same parameters: where it can in the place of this process and under its id, else as its child. */
async function start(): Promise<void> {
  const environment = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env }
  if (process.platform === 'linux' && isReplaceable() && process.env[KEPT.name] === undefined) {
    replaceProcess(MAIN, { ...environment, [KEPT.name]: KEPT.bytes })
  }
  if (process.execve === undefined && !process.connected) {
    process.exit(await supervise(MAIN, environment))
  }
  await import('./main.ts')
}

await start()
