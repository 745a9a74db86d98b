import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' | 'major'; flavor?: 'last-resort' }) => void

let collect: Collect | undefined

/**
 * Frees recently allocated garbage, in about a millisecond. On its own, V8 decides by its heap alone, and lets 64
 * MB of buffers, which lie outside the heap, pile up.
 */
export function freeYoungMemory(): void {
  collect ??= exposeCollector()
  collect?.({ type: 'minor' })
}

/**
 * Frees all garbage, and returns the memory to the system: blocks the thread for some ten milliseconds. For work
 * that would otherwise make the heap grow far beyond what it holds.
 */
export function freeAllMemory(): void {
  collect ??= exposeCollector()
  collect?.({ type: 'major' })
}

/** How often to check whether this thread is idle. */
const IDLE_CHECK_MS = 10_000
/** The share of a processor that an idle thread may use, for timers and polls. */
const IDLE_SHARE = 0.02

/**
 * Returns the memory of a burst of work once it is over: V8 does not shrink its young generation, and keeps garbage in
 * the old one until something allocates again. Runs once after each burst, and after the start. Only for the calling
 * thread, as each thread has its own heap.
 */
export function freeMemoryWhenIdle(checkMs = IDLE_CHECK_MS): void {
  let last = process.threadCpuUsage()
  let isFreed = false
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    const isIdle = user + system < checkMs * 1_000 * IDLE_SHARE
    if (isIdle && !isFreed) {
      collect ??= exposeCollector()
      // The flavor that also shrinks the young generation.
      collect?.({ type: 'major', flavor: 'last-resort' })
    }
    isFreed = isIdle && collect !== undefined
    last = process.threadCpuUsage()
  }, checkMs).unref()
}

/** Undefined if another thread has just removed the flag, which all share: the next call finds it. */
function exposeCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  const gc: Collect | undefined = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return gc
}
