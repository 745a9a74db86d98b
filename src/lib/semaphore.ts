import { untilAborted } from './backoff.ts'

/** Lets a few at a time do something costly. */
export interface Semaphore {
  /** Waits for a turn, in order of arrival. Throws `RangeError` where too many wait, and what `signal` was aborted with. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createSemaphore(atOnce: number, mostWaiting: number): Semaphore {
  const waiting: PromiseWithResolvers<void>[] = []
  let busy = 0

  async function take(signal: AbortSignal): Promise<void> {
    if (busy < atOnce) {
      busy += 1
      return
    }
    if (waiting.length >= mostWaiting) throw new RangeError('too many wait for their turn')
    const turn = Promise.withResolvers<void>()
    waiting.push(turn)
    try {
      await untilAborted(turn.promise, signal)
    } catch (error) {
      const place = waiting.indexOf(turn)
      // The turn may have come at the very moment: it goes to the next.
      if (place === -1) give()
      else waiting.splice(place, 1)
      throw error
    }
  }

  function give(): void {
    const next = waiting.shift()
    if (next) next.resolve()
    else busy -= 1
  }

  return {
    async run(work, signal) {
      await take(signal)
      try {
        return await work()
      } finally {
        give()
      }
    },
  }
}
