interface Options {
  /** How often an address may fail within the window. */
  failures: number
  windowMs: number
  now?: () => number
}

/** Addresses that are remembered; the one that failed first is forgotten for one more. */
const MAX_ADDRESSES = 10_000

/** Counts failures by address, in windows that begin with the first one. Memory is bounded. */
export function createFailureLimit({ failures, windowMs, now = Date.now }: Options) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  return {
    /** Seconds until the address may try again; 0 where it may now. */
    waitSeconds(address: string): number {
      const window = windows.get(address)
      if (!window || window.count < failures) return 0
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
      windows.set(address, { count: 1, endsAt: now() + windowMs })
    },
  }
}
