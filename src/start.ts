import { fileURLToPath } from 'node:url'

/**
 * How much freed memory glibc keeps at the end of its heap, in bytes. This is its own first value; but only
 * where it is set does it stay, see mallopt(3). Otherwise it follows the largest block that was ever freed,
 * and after some large files the server holds on to hundreds of megabytes that it does not use.
 */
const KEPT = { name: 'MALLOC_TRIM_THRESHOLD_', bytes: '131072' }

/** Where Node.js keeps what it has compiled, at an orderly end: the next start takes half as long. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url))

/** Runs `src/main.ts` with the same parameters, where it can in the place of this process and under its id. */
async function start(): Promise<void> {
  // A process that talks to its parent would lose the connection.
  const isReplaceable = process.platform === 'linux' && !process.connected
  if (isReplaceable && process.env[KEPT.name] === undefined) {
    const main = fileURLToPath(new URL('./main.ts', import.meta.url))
    const parameters = [...process.execArgv, main, ...process.argv.slice(2)]
    const environment = {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...process.env,
      [KEPT.name]: KEPT.bytes,
    }
    process.execve?.(process.execPath, [process.execPath, ...parameters], environment)
  }
  await import('./main.ts')
}

await start()
