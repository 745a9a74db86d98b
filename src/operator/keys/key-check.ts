import { AppError } from '../../errors.ts'
import { isSameSecret } from '../../lib/same-secret.ts'
import { type Caller, MASTER } from '../../schemas/operator/api-key.ts'

/** Wrong keys per address that are allowed within the window. */
const MAX_FAILURES = 10
const FAILURE_WINDOW_MS = 60_000
/** Addresses that are remembered; beyond that, the oldest window is evicted. */
const MAX_ADDRESSES = 10_000

interface KeyCheck {
  serverApiKey: string
  /** Who holds another key, if others are taken. */
  identify?: (key: string) => Promise<Caller | undefined>
  /** What a person is told of a wrong key. */
  refusal: string
  now?: () => number
}

/** Who holds a key that a person typed. Throws `unauthorized`, and `too_many_attempts` after too many wrong ones. */
export function createKeyCheck({ serverApiKey, identify, refusal, now = Date.now }: KeyCheck) {
  const limit = createFailureLimit(now)
  return async (key: string, address: string): Promise<Caller> => {
    const retryAfter = limit.waitSeconds(address)
    if (retryAfter > 0) {
      const message = 'Too many invalid keys from this address; try again in a minute'
      throw new AppError('too_many_attempts', message, { retryAfter })
    }
    const caller = isSameSecret(key, serverApiKey) ? MASTER : await identify?.(key)
    if (caller) return caller
    limit.failed(address)
    throw new AppError('unauthorized', refusal)
  }
}

/** Counts failures by address, in windows that begin with the first failure. Memory is bounded. */
function createFailureLimit(now: () => number) {
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
