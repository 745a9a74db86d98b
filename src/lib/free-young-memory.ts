import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' }) => void

let collect: Collect | undefined

/**
 * Frees what was allocated a moment ago and is no longer held, in about a millisecond. V8 counts only its own
 * heap when it decides to do so by itself, and lets 64 MB pile up of buffers, which lie outside of it.
 */
export function freeYoungMemory(): void {
  collect ??= exposeCollector()
  collect({ type: 'minor' })
}

function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const gc: Collect = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return gc
}
