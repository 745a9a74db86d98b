/** The longest a Node timer can run. */
const MAXIMUM_TIMER_MILLISECONDS = 2 ** 31 - 1

export interface Watchdog {
  /** Aborted once the upstream kept silent for too long. */
  readonly signal: AbortSignal
  /** Waits for `work`; `signal` aborts when it takes longer than the limit. */
  watch<T>(work: Promise<T>): Promise<T>
  /** Shortens the limit of every wait from now on. */
  limit(milliseconds: number): void
}

/**
 * Watches the waits for an upstream, and those only: a reader that takes its time between two chunks is
 * not a stalled upstream.
 */
export function createWatchdog(limitMilliseconds: number): Watchdog {
  const controller = new AbortController()
  let limit = Math.min(limitMilliseconds, MAXIMUM_TIMER_MILLISECONDS)
  return {
    signal: controller.signal,
    async watch(work) {
      const timer = setTimeout(() => controller.abort(), limit)
      try {
        return await work
      } finally {
        clearTimeout(timer)
      }
    },
    limit(milliseconds) {
      limit = Math.min(limit, milliseconds)
    },
  }
}
