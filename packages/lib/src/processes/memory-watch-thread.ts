import { parentPort } from 'node:worker_threads'
import { codeOf } from '../system-error.ts'
import { sharedBytes, treeOf } from './resident-memory.ts'

export interface WatchMessage {
  pid: number
  /** Absent to stop watching the process. */
  bound?: MemoryBound
}

export interface MemoryBound {
  maxBytes: number
  /** Whether its descendants' memory counts, too. */
  withDescendants: boolean
  /** One number in shared memory: the bytes that the process held when it was killed. */
  exceededBy: Float64Array
}

// In a thread of its own, since the main thread may be busy just when a process takes all memory.

/** Interval between two checks of all processes; `ps` is expensive. */
const LOOK_MS = process.platform === 'linux' ? 50 : 500

const watched = new Map<number, Required<WatchMessage>>()
let timer: NodeJS.Timeout | undefined

parentPort?.on('message', ({ pid, bound }: WatchMessage) => {
  if (bound) watched.set(pid, { pid, bound })
  else watched.delete(pid)
  if (watched.size > 0) timer ??= setInterval(look, LOOK_MS)
  else {
    clearInterval(timer)
    timer = undefined
  }
})

function look(): void {
  for (const { pid, bound } of watched.values()) {
    const { maxBytes, withDescendants, exceededBy } = bound
    const pids = withDescendants ? treeOf(pid) : [pid]
    const bytes = sharedBytes(pids, maxBytes)
    if (bytes <= maxBytes) continue
    // Set first: whoever sees the process end looks here for the cause.
    exceededBy[0] = bytes
    watched.delete(pid)
    pids.forEach(end)
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended on its own meanwhile.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
