import { createAddressLimit } from './address-limit.ts'
import { AppError } from './errors.ts'

/** Wrong keys per address that are allowed within a minute. */
const MAX_FAILURES = 10

interface KeyCheck<Holder> {
  identify: (key: string) => Promise<Holder | undefined> | Holder | undefined
  /** The message for a wrong key. */
  refusal: string
  now?: (() => number) | undefined
}

/** Who holds a key that a person typed. Throws `unauthorized`, and `too_many_attempts` after too many wrong ones. */
export function createKeyCheck<Holder>({ identify, refusal, now }: KeyCheck<Holder>) {
  const limit = createAddressLimit(MAX_FAILURES, now)
  return async (key: string, address: string): Promise<Holder> => {
    const retryAfter = limit.waitSeconds(address)
    if (retryAfter > 0) {
      const message = 'Too many invalid keys from this address; try again in a minute'
      throw new AppError('too_many_attempts', message, { retryAfter })
    }
    const holder = await identify(key)
    if (holder) return holder
    limit.count(address)
    throw new AppError('unauthorized', refusal)
  }
}
