import { Worker } from 'node:worker_threads'
import type { MemoryBound, WatchMessage } from './memory-watch-thread.ts'

let thread: Worker | undefined

/**
 * Ends a child of this process once it holds more memory than it may, whatever runs in it, also while this
 * thread is busy. It is looked at a few times a second: for that long it may hold more. Not on Windows.
 */
export function boundMemory(
  pid: number | undefined,
  maximumBytes: number,
  { withDescendants = false } = {},
) {
  thread ??= new Worker(new URL('./memory-watch-thread.ts', import.meta.url))
  thread.unref()
  const exceededBy = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  const setBound = (bound?: MemoryBound) => {
    // One that could not be started has no number.
    if (pid) thread?.postMessage({ pid, ...(bound && { bound }) } satisfies WatchMessage)
  }
  const change = (maximumBytes: number) => setBound({ maximumBytes, withDescendants, exceededBy })
  change(maximumBytes)
  return {
    change,
    /** The bytes that it was ended for; nothing where it was not. */
    exceededBy: () => exceededBy[0] || undefined,
    stop: () => setBound(),
  }
}
