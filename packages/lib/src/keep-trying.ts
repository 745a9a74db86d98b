import { pause } from './abort.ts'
import { backoffMs } from './backoff.ts'
import { ignore } from './ignore.ts'

const PAUSE = { firstMs: 500, maxMs: 5_000 }
/** Within this time an operator has freed the disk or restarted the database; otherwise retrying does not help. */
const LONGEST_MS = 3_600_000

/**
 * Repeats work that must not be lost until it succeeds, an hour has passed or, after one last attempt, `signal` is
 * aborted; then throws its last error. `onFailure` is called after the first failure.
 */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Result> {
  const started = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    const isLast = signal.aborted || performance.now() - started > LONGEST_MS
    try {
      return await work()
    } catch (error) {
      if (attempt === 1) onFailure(error)
      if (isLast) throw error
    }
    await ignore(pause(backoffMs(attempt, PAUSE), signal), 'the last attempt follows')
  }
}
