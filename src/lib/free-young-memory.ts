import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' | 'major' }) => void

let collect: Collect | undefined

/**
 * Frees what was allocated a moment ago and is no longer held, in about a millisecond. V8 counts only its own
 * heap when it decides to do so by itself, and lets 64 MB pile up of buffers, which lie outside of it.
 */
export function freeYoungMemory(): void {
  collect ??= exposeCollector()
  collect({ type: 'minor' })
}

/**
 * Frees all that is no longer held, and gives back the room that it took: some ten milliseconds in which
 * nothing else happens. For work that would make the heap grow far beyond what it holds.
 */
export function freeAllMemory(): void {
  collect ??= exposeCollector()
  collect({ type: 'major' })
}

function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const gc: Collect = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return gc
}
