import { fileURLToPath } from 'node:url'
import { isReplaceable, replaceProcess, supervise } from './lib/processes/restart.ts'

/** What glibc's allocator is told, see mallopt(3). What the operator says wins. */
const ALLOCATOR = {
  // Bytes of freed memory that it keeps at the end of its heap. This is its own first value; but only where it is set
  // does it stay. Otherwise it follows the largest block that was ever freed, and after some large files the server
  // holds on to hundreds of megabytes that it does not use.
  MALLOC_TRIM_THRESHOLD_: '131072',
  // Threads share one heap, where each would keep its own freed memory: docs/performance.md has what it saves.
  MALLOC_ARENA_MAX: '1',
}

/** Where Node.js keeps what it has compiled, at an orderly end: the next start takes half as long. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url))
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Runs `src/main.ts` with the same parameters: where it can in the place of this process and under its id, else as its child. */
async function start(): Promise<void> {
  const environment = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env }
  const isTold = Object.keys(ALLOCATOR).every((name) => process.env[name] !== undefined)
  if (process.platform === 'linux' && isReplaceable() && !isTold) {
    replaceProcess(MAIN, { ...ALLOCATOR, ...environment })
  }
  if (process.execve === undefined && !process.connected) {
    process.exit(await supervise(MAIN, environment))
  }
  await import('./main.ts')
}

await start()
