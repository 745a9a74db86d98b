import { AppError } from '../errors.ts'

/** How long a part that failed is left alone: doubled with each failure. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** After a pause one caller tries; the others wait this long for how it goes. */
const TRIAL_MS = 2_000

/** A readiness check asks only if nobody else has for this long. */
const FRESH_MS = 60_000

export interface OutageLog {
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

interface Dependencies {
  /** As in “the embedding model works again”. */
  name: string
  /** What its absence means for those who use the server. */
  consequence: string
  /** Whether what a call of it threw means that it does not work. */
  isOutage: (error: unknown) => boolean
  now: () => number
  log: OutageLog
}

/** A circuit breaker: remembers whether a service that the server depends on works, so that not every call has to find out. */
export function createOutage({ name, consequence, isOutage, now, log }: Dependencies) {
  let last: unknown
  let failures = 0
  /** Somebody tries whether it works again. */
  let isTried = false
  let closedUntil = 0
  let worked = Number.NEGATIVE_INFINITY
  /** How long to leave it alone, in milliseconds; 0 unless it is down. */
  const pauseMs = () => Math.max(0, closedUntil - now())

  const ended = () => {
    if (last) log.info({ failures }, `${name} works again`)
    last = undefined
    failures = 0
    isTried = false
    closedUntil = 0
    worked = now()
  }
  const failed = (error: unknown) => {
    if (!last) log.warn({ err: error }, `${name} does not work: ${consequence}`)
    // Callers that were under way together fail together, which is one failure.
    if (!last || isTried) failures++
    last = error
    isTried = false
    closedUntil = now() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  }

  return {
    /** Does `work`, and learns from how it goes. Throws what failed last instead, unless it works or it is time to try again. */
    async run<Output>(work: () => Promise<Output>): Promise<Output> {
      if (last) {
        if (pauseMs() > 0) throw last
        closedUntil = now() + TRIAL_MS
        isTried = true
      }
      try {
        const output = await work()
        ended()
        return output
      } catch (error) {
        if (isOutage(error)) failed(error)
        throw error
      }
    },
    isDown: () => last !== undefined,
    pauseMs,
    /** For readiness: throws AppError `upstream_failed` unless it was seen to work lately, or answers now. */
    async check(ask: () => Promise<unknown>): Promise<void> {
      if (!last && now() - worked < FRESH_MS) return
      try {
        await ask()
      } catch (cause) {
        const message = isOutage(cause) ? Object(cause).message : `${name} does not work`
        throw new AppError('upstream_failed', message, { cause })
      }
    },
  }
}
