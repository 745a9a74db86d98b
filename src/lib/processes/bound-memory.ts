import type { ChildProcess } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import type { MemoryBound, WatchMessage } from './memory-watch-thread.ts'

/** A thread that watches nothing is ended after so long: it holds about 7 MB. */
const IDLE_MS = 60_000

let thread: Worker | undefined
let idleTimer: NodeJS.Timeout | undefined
/** Of each process that is watched, what is done where the thread fails. */
const watched = new Set<(cause: unknown) => void>()

/**
 * Ends a child of this process once it holds more memory than it may, whatever runs in it, also while this
 * thread is busy. It is looked at a few times a second: for that long it may hold more. Not on Windows.
 * One that cannot be watched is ended, too.
 */
export function boundMemory(
  child: ChildProcess,
  maxBytes: number,
  { withDescendants = false, idleMs = IDLE_MS } = {},
) {
  const { pid } = child
  const exceededBy = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  let failure: string | undefined
  const setBound = (bound?: MemoryBound) => {
    // One that could not be started has no number.
    if (pid) thread?.postMessage({ pid, ...(bound && { bound }) } satisfies WatchMessage)
  }
  const change = (maxBytes: number) => setBound({ maxBytes, withDescendants, exceededBy })
  const fail = (cause: unknown) => {
    failure = `Its memory could not be watched: ${cause}`
    child.kill('SIGKILL')
  }
  if (pid) {
    clearTimeout(idleTimer)
    thread ??= startThread()
    watched.add(fail)
    change(maxBytes)
    child.once('exit', () => {
      setBound()
      watched.delete(fail)
      if (watched.size === 0) idleTimer = setTimeout(endThread, idleMs).unref()
    })
  }
  return {
    change,
    /** Why it was ended here; nothing where it was not. */
    reason: () => (exceededBy[0] ? `It held ${exceededBy[0]} bytes` : failure),
  }
}

function startThread(): Worker {
  const started = new Worker(new URL('./memory-watch-thread.ts', import.meta.url))
  started.unref()
  // Such as for want of descriptors or memory.
  return started.on('error', (cause) => {
    thread = undefined
    for (const fail of watched) fail(cause)
  })
}

function endThread(): void {
  void thread?.terminate()
  thread = undefined
}
