import { createAddressLimit } from '@agent-server/lib/address-limit.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { type Caller, MASTER } from '@agent-server/schemas/operator/api-key.ts'

/** Wrong keys per address that are allowed within a minute. */
const MAX_FAILURES = 10

interface KeyCheck {
  serverApiKey: string
  /** Who holds another key, if others are taken. */
  identify?: (key: string) => Promise<Caller | undefined>
  /** What a person is told of a wrong key. */
  refusal: string
  now?: () => number
}

/** Who holds a key that a person typed. Throws `unauthorized`, and `too_many_attempts` after too many wrong ones. */
export function createKeyCheck({ serverApiKey, identify, refusal, now }: KeyCheck) {
  const limit = createAddressLimit(MAX_FAILURES, now)
  return async (key: string, address: string): Promise<Caller> => {
    const retryAfter = limit.waitSeconds(address)
    if (retryAfter > 0) {
      const message = 'Too many invalid keys from this address; try again in a minute'
      throw new AppError('too_many_attempts', message, { retryAfter })
    }
    const caller = isSameSecret(key, serverApiKey) ? MASTER : await identify?.(key)
    if (caller) return caller
    limit.count(address)
    throw new AppError('unauthorized', refusal)
  }
}
