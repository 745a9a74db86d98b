import { Worker } from 'node:worker_threads'

export interface WatchMessage {
  pid: number
  /** None: the process is watched no longer. */
  bound?: MemoryBound
}

interface MemoryBound {
  maximumBytes: number
  /** Whether what the process has started counts, too. */
  withDescendants: boolean
  /** Shared memory of one number: what the process held when it was ended for it. */
  exceededBy: Float64Array
}

let thread: Worker | undefined

/**
 * Ends a child of this process once it holds more memory than it may, whatever runs in it, also while this
 * thread is busy. It is looked at a few times a second: for that long it may hold more. Not on Windows.
 */
export function boundMemory(pid: number, maximumBytes: number, { withDescendants = false } = {}) {
  thread ??= new Worker(new URL('./memory-watch-thread.ts', import.meta.url))
  thread.unref()
  const exceededBy = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  const tell = (bound?: MemoryBound) =>
    thread?.postMessage({ pid, ...(bound && { bound }) } satisfies WatchMessage)
  const change = (maximumBytes: number) => tell({ maximumBytes, withDescendants, exceededBy })
  change(maximumBytes)
  return {
    change,
    /** The bytes that it was ended for; nothing where it was not. */
    exceededBy: () => exceededBy[0] || undefined,
    stop: () => tell(),
  }
}
