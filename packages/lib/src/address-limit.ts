import { keepNewest } from './keep-newest.ts'

const WINDOW_MS = 60_000
/** Addresses that are remembered; beyond that, the oldest window is evicted. */
const MAX_ADDRESSES = 10_000

/** Counts something by address, in windows of a minute that begin with the first time. Memory is bounded. */
export function createAddressLimit(maximum: number, now = () => performance.now()) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  return {
    /** Seconds until the address may try again; 0 if it may try now. */
    waitSeconds(address: string): number {
      const window = windows.get(address)
      if (!window || window.count < maximum) return 0
      return Math.max(0, Math.ceil((window.endsAt - now()) / 1_000))
    },

    count(address: string): void {
      const window = windows.get(address)
      if (window && window.endsAt > now()) {
        window.count += 1
        return
      }
      keepNewest(windows, address, { count: 1, endsAt: now() + WINDOW_MS }, MAX_ADDRESSES)
    },
  }
}
