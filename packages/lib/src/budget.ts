import { untilAborted } from './abort.ts'

/**
 * Bounds what is held in memory, such as characters or bytes. As long as less than the maximum is held, the next caller
 * gets all that it asks for.
 */
export function createBudget(max: number) {
  let total = 0
  let eased = Promise.withResolvers<void>()

  return {
    /** Waits until less than the maximum is held. Throws the reason of the signal. */
    async room(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      while (total >= max) await untilAborted(eased.promise, signal)
    },
    /** Counts `weight` as held until the returned function is called. */
    hold(weight: number) {
      total += weight
      return () => {
        total -= weight
        eased.resolve()
        eased = Promise.withResolvers()
      }
    },
  }
}
