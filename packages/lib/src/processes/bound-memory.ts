import type { ChildProcess } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { createOnDemand } from '../on-demand.ts'
import type { MemoryBound, WatchMessage } from './memory-watch-thread.ts'

/** An idle thread holds about 8 MB; right after a process has ended, it may still be ending what that has started. */
const IDLE_MS = 60_000

const threads = createOnDemand({
  start: startThread,
  end: (thread) => thread.terminate(),
  idleMs: IDLE_MS,
})
/** For each watched process, what to do if the thread fails. */
const watched = new Set<(cause: unknown) => void>()

/**
 * Kills a child process once it exceeds its memory limit, whatever runs in it, and even while this thread is busy.
 * It is polled a few times a second, and may exceed the limit for that long. Not on Windows. A process that cannot
 * be watched is killed, too.
 */
export function boundMemory(
  child: ChildProcess,
  maxBytes: number,
  { withDescendants = false } = {},
) {
  const { pid } = child
  const exceededBy = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  let failure: string | undefined
  let thread: Worker | undefined
  const setBound = (bound?: MemoryBound) => {
    // A process that could not be started has no pid.
    if (pid) thread?.postMessage({ pid, ...(bound && { bound }) } satisfies WatchMessage)
  }
  const change = (maxBytes: number) => setBound({ maxBytes, withDescendants, exceededBy })
  const fail = (cause: unknown) => {
    failure = `Its memory could not be watched: ${cause}`
    child.kill('SIGKILL')
  }
  const watch = async (watching: Worker) => {
    thread = watching
    watched.add(fail)
    change(maxBytes)
    await new Promise((resolve) => child.once('exit', resolve))
    setBound()
    watched.delete(fail)
  }
  // A thread that cannot be started throws.
  if (pid) void threads.use(watch).catch(fail)
  return {
    change,
    /** Why it was killed here; undefined if it was not. */
    reason: () => (exceededBy[0] ? `It held ${exceededBy[0]} bytes` : failure),
  }
}

function startThread(): Worker {
  const started = new Worker(new URL('./memory-watch-thread.ts', import.meta.url))
  started.unref()
  // For example if descriptors or memory run out.
  return started.on('error', (cause) => {
    threads.ended(started)
    for (const fail of watched) fail(cause)
  })
}
