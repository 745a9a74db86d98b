import { AppError } from '../../errors.ts'
import { createFailureLimit } from '../../lib/failure-limit.ts'
import { isSameSecret } from '../../lib/same-secret.ts'
import { type Caller, MASTER } from '../../schemas/operator/api-key.ts'

/** Who holds a key that a person typed. Throws `unauthorized`, and `too_many_attempts` after too many wrong ones. */
export function createKeyCheck(
  serverApiKey: string,
  identify: (token: string) => Promise<Caller | undefined>,
) {
  const limit = createFailureLimit(Date.now)
  return async (key: string, address: string): Promise<Caller> => {
    const retryAfter = limit.waitSeconds(address)
    if (retryAfter > 0) {
      const message = 'Too many invalid keys from this address; try again in a minute'
      throw new AppError('too_many_attempts', message, { retryAfter })
    }
    const caller = isSameSecret(key, serverApiKey) ? MASTER : await identify(key)
    if (caller) return caller
    limit.failed(address)
    throw new AppError('unauthorized', 'The key is invalid')
  }
}
