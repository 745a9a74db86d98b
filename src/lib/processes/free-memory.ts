import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' | 'major'; flavor?: 'last-resort' }) => void

let collect: Collect | undefined

/**
 * Frees what was allocated a moment ago and is no longer held, in about a millisecond. V8 counts only its own
 * heap when it decides to do so by itself, and lets 64 MB pile up of buffers, which lie outside of it.
 */
export function freeYoungMemory(): void {
  collect ??= exposeCollector()
  collect?.({ type: 'minor' })
}

/**
 * Frees all that is no longer held, and gives back the room that it took: some ten milliseconds in which
 * nothing else happens. For work that would make the heap grow far beyond what it holds.
 */
export function freeAllMemory(): void {
  collect ??= exposeCollector()
  collect?.({ type: 'major' })
}

/** How often it is checked whether this thread is idle. */
const IDLE_CHECK_MS = 10_000
/** The share of a processor that an idle thread may take, for timers and polls. */
const IDLE_SHARE = 0.02

/**
 * Gives back what a burst of work has left, once it is over: V8 makes its young generation no smaller, and lets
 * garbage lie in the old one until somebody allocates again. Once after each burst, and after the start. Of the thread
 * that calls it alone, whatever others do: each has a heap of its own.
 */
export function freeMemoryWhenIdle(checkMs = IDLE_CHECK_MS): void {
  let last = process.threadCpuUsage()
  let isFreed = false
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    const isIdle = user + system < checkMs * 1_000 * IDLE_SHARE
    if (isIdle && !isFreed) {
      collect ??= exposeCollector()
      // The flavor that makes the young generation small again.
      collect?.({ type: 'major', flavor: 'last-resort' })
    }
    isFreed = isIdle && collect !== undefined
    last = process.threadCpuUsage()
  }, checkMs).unref()
}

/** Nothing where another thread has just taken back the flag, which all share: the next call finds it. */
function exposeCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  const gc: Collect | undefined = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return gc
}
