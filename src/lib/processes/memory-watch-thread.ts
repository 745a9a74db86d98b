import { parentPort } from 'node:worker_threads'
import { sharedBytes, treeOf } from './resident-memory.ts'

export interface WatchMessage {
  pid: number
  /** None: the process is watched no longer. */
  bound?: MemoryBound
}

export interface MemoryBound {
  maxBytes: number
  /** Whether what the process has started counts, too. */
  withDescendants: boolean
  /** Shared memory of one number: what the process held when it was ended for it. */
  exceededBy: Float64Array
}

// Beside the server's own thread, which may be busy just when a process takes all there is.

/** Between two looks at all processes; `ps` is costly to ask. */
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
    // First: whoever learns of the end looks here for its cause.
    exceededBy[0] = bytes
    watched.delete(pid)
    pids.forEach(end)
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself meanwhile.
    if (Object(error).code !== 'ESRCH') throw error
  }
}
