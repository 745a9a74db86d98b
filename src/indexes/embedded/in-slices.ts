import { setImmediate } from 'node:timers/promises'

/** How long a thread works at a stretch while calls may be waiting for it. */
const SLICE_MS = 2

/** Runs `work` to its end, letting the thread answer calls at its steps. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const end = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await setImmediate()
  }
}
