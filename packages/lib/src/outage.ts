import { backoffMs } from './backoff.ts'
import { AppError } from './errors.ts'
import type { Log } from './log.ts'

/** How long a failed part is not called. */
const PAUSE = { firstMs: 1_000, maxMs: 30_000 }
/** After a pause one caller tries; the others wait this long for the outcome. */
const TRIAL_MS = 2_000

/** A readiness check calls the part only if nothing has worked for this long. */
const FRESH_MS = 60_000

interface Dependencies {
  /** As in “the embedding model works again”. */
  name: string
  /** What its absence means for users of the server. */
  consequence: string
  /** Whether an error thrown by a call means that the part is down. */
  isOutage: (error: unknown) => boolean
  now: () => number
  log: Pick<Log, 'info' | 'warn'>
}

/** A circuit breaker: remembers whether a service works, so that not every call has to find out. */
export function createOutage({ name, consequence, isOutage, now, log }: Dependencies) {
  let last: unknown
  let failures = 0
  /** A trial call is in flight. */
  let isTried = false
  let closedUntil = 0
  let worked = Number.NEGATIVE_INFINITY
  /** How much longer not to call it, in milliseconds; 0 unless it is down. */
  const pauseMs = () => Math.max(0, closedUntil - now())

  const recover = () => {
    if (last) log.info({ failures }, `${name} works again`)
    last = undefined
    failures = 0
    isTried = false
    closedUntil = 0
    worked = now()
  }
  const failed = (error: unknown) => {
    if (!last) log.warn({ err: error }, `${name} does not work: ${consequence}`)
    // Calls in flight together fail together, which counts as one failure.
    if (!last || isTried) failures++
    last = error
    isTried = false
    closedUntil = now() + backoffMs(failures, PAUSE, () => 1)
  }

  return {
    /**
     * Runs `work` and learns from its outcome. While the part is down, throws the last error instead, until it is time
     * for a trial.
     */
    async run<Output>(work: () => Promise<Output>): Promise<Output> {
      if (last) {
        if (pauseMs() > 0) throw last
        closedUntil = now() + TRIAL_MS
        isTried = true
      }
      try {
        const output = await work()
        recover()
        return output
      } catch (error) {
        if (isOutage(error)) failed(error)
        throw error
      }
    },
    isDown: () => last !== undefined,
    pauseMs,
    /**
     * For readiness: throws AppError `upstream_failed` unless it worked recently, or `ask` succeeds now. Without `ask`,
     * throws only if the last call failed.
     */
    async check(ask?: () => Promise<unknown>): Promise<void> {
      if (!last && (!ask || now() - worked < FRESH_MS)) return
      try {
        if (!ask) throw last
        await ask()
      } catch (cause) {
        const message =
          cause instanceof Error && isOutage(cause) ? cause.message : `${name} does not work`
        throw new AppError('upstream_failed', message, { cause })
      }
    },
  }
}
