/** Wrong keys per address that are allowed within the window. */
const MAX_FAILURES = 10
const FAILURE_WINDOW_MS = 60_000
/** Addresses that are remembered; beyond that, the oldest window is evicted. */
const MAX_ADDRESSES = 10_000

/** Counts failures by address, in windows that begin with the first failure. Memory is bounded. */
export function createFailureLimit(now: () => number) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  return {
    /** Seconds until the address may try again; 0 if it may try now. */
    waitSeconds(address: string): number {
      const window = windows.get(address)
      if (!window || window.count < MAX_FAILURES) return 0
      return Math.max(0, Math.ceil((window.endsAt - now()) / 1_000))
    },

    failed(address: string): void {
      const window = windows.get(address)
      if (window && window.endsAt > now()) {
        window.count += 1
        return
      }
      windows.delete(address)
      const [oldest] = windows.keys()
      if (windows.size >= MAX_ADDRESSES && oldest !== undefined) windows.delete(oldest)
      windows.set(address, { count: 1, endsAt: now() + FAILURE_WINDOW_MS })
    },
  }
}
