import { fileURLToPath } from 'node:url'
import { isReplaceable, replaceProcess, supervise } from './lib/processes/restart.ts'

/** Settings of glibc's allocator, see mallopt(3); the operator's own values win. */
const ALLOCATOR = {
  // Bytes of freed memory that it keeps at the top of the heap. This is the default, but only an explicit value stays
  // fixed. Otherwise it grows with the largest block ever freed, and after some large files the server holds on to
  // hundreds of megabytes that it does not use.
  MALLOC_TRIM_THRESHOLD_: '131072',
  // All threads share one heap; otherwise each keeps its own freed memory. docs/performance.md says what it saves.
  MALLOC_ARENA_MAX: '1',
}

/** Where Node.js saves compiled code on an orderly exit; the next start then takes half as long. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/agent-server', import.meta.url))
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/**
 * Runs `src/main.ts` with the same arguments: in place of this process and under its id if the allocator needs
 * settings, as a child process where there is no `execve`, else within this process.
 */
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
