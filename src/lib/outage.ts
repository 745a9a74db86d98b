/** How long a part that failed is left alone: doubled with each failure. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** After a pause one caller tries; the others wait this long for how it goes. */
const TRIAL_MS = 2_000

interface Dependencies {
  /** As in “the embedding model works again”. */
  name: string
  /** What its absence means for those who use the server. */
  consequence: string
  now: () => number
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

interface Outage {
  /** Throws what failed last, unless it works or it is time to try again. */
  enter(): void
  ended(): void
  failed(error: Error): void
  isDown(): boolean
  /** 0 unless it is down. */
  pauseMs(): number
  /** Since it was seen to work; infinite while it is down, and at first. */
  quietMs(): number
}

/** Remembers whether a part of the outside world works, so that not every caller has to find out. */
export function createOutage({ name, consequence, now, log }: Dependencies): Outage {
  let last: Error | undefined
  let failures = 0
  /** Somebody tries whether it works again. */
  let isTried = false
  let closedUntil = 0
  let worked = Number.NEGATIVE_INFINITY
  const pauseMs = () => Math.max(0, closedUntil - now())

  return {
    enter() {
      if (!last) return
      if (pauseMs() > 0) throw last
      closedUntil = now() + TRIAL_MS
      isTried = true
    },
    ended() {
      if (last) log.info({ failures }, `${name} works again`)
      last = undefined
      failures = 0
      isTried = false
      closedUntil = 0
      worked = now()
    },
    failed(error) {
      const isNew = !last
      last = error
      // Callers that were under way together fail together, which is one failure.
      if (isNew || isTried) failures++
      isTried = false
      const pause = FIRST_PAUSE_MS * 2 ** (failures - 1)
      closedUntil = now() + Math.min(MAX_PAUSE_MS, pause)
      if (isNew) log.warn({ err: error }, `${name} does not work: ${consequence}`)
    },
    pauseMs,
    isDown: () => last !== undefined,
    quietMs: () => (last ? Number.POSITIVE_INFINITY : now() - worked),
  }
}
