import { AppError } from '../../errors.ts'
import { pause } from './abortable.ts'
import { backoffMilliseconds } from './retry-policy.ts'

const BACKOFF = { firstMilliseconds: 250, mostMilliseconds: 15_000 }

interface Log {
  warn(fields: object, message: string): void
}

/**
 * Does `work` again and again for as long as the index or the authority does not answer. Throws whatever
 * else goes wrong, and the reason of `signal`.
 */
export async function untilAvailable<Output>(
  work: () => Promise<Output>,
  log: Log,
  signal: AbortSignal,
): Promise<Output> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) throw error
      log.warn(
        { err: error, failures },
        'a part that the server needs does not answer; trying again',
      )
    }
    await pause(backoffMilliseconds(failures, BACKOFF), signal)
  }
}

/** Whether a part of the outside world is to blame, and may answer again. */
export function isOutage(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === 'index_unavailable' || error.code === 'store_unavailable')
  )
}
