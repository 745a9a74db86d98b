import { untilAborted } from './abort.ts'

/** Limits how many callers do something costly at a time. `maxWaiting` bounds the queue, if nothing else does. */
export function createSemaphore(permits: number, maxWaiting = Number.POSITIVE_INFINITY) {
  const waiting: PromiseWithResolvers<void>[] = []
  let free = permits

  async function acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    if (waiting.length >= maxWaiting) throw new RangeError('too many wait for their turn')
    const turn = Promise.withResolvers<void>()
    waiting.push(turn)
    try {
      await untilAborted(turn.promise, signal)
    } catch (error) {
      const place = waiting.indexOf(turn)
      // The turn may have come at the same moment: pass it on to the next.
      if (place === -1) release()
      else waiting.splice(place, 1)
      throw error
    }
  }

  function release(): void {
    const next = waiting.shift()
    if (next) next.resolve()
    else free += 1
  }

  return {
    /**
     * Runs `work` when it is its turn, in order of arrival. Throws `RangeError` if too many wait, and the reason
     * of `signal`.
     */
    async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      await acquire(signal)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

/**
 * Bounds what is held in memory, such as characters or bytes. As long as less than the maximum is held, the next caller
 * gets all that it asks for.
 */
export function createBudget(max: number) {
  let held = 0
  let eased = Promise.withResolvers<void>()

  return {
    /** Waits until less than the maximum is held. Throws the reason of the signal. */
    async room(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      while (held >= max) await untilAborted(eased.promise, signal)
    },
    /** Counts `weight` as held until the returned function is called. */
    hold(weight: number) {
      held += weight
      return () => {
        held -= weight
        eased.resolve()
        eased = Promise.withResolvers()
      }
    },
  }
}
