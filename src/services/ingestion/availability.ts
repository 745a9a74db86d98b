import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { untilAborted } from '../../lib/backoff.ts'
import { backoffMs } from './retry-policy.ts'

const BACKOFF = { firstMs: 250, mostMs: 15_000 }

interface Log {
  warn(fields: object, message: string): void
}

/**
 * Does `work` again and again for as long as the index or the document store does not answer. Throws whatever
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
    await pause(backoffMs(failures, BACKOFF), signal)
  }
}

/** Whether a part of the outside world is to blame, and may answer again. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === 'index_unavailable' || error.code === 'store_unavailable')
  )
}

type FedIndex = Pick<ChunkIndex, 'add' | 'addVectors' | 'remove'>

interface WatchedIndex {
  index: FedIndex
  /** How long to leave the index alone, in milliseconds; 0 while it works. */
  pauseMs(): number
  /** It failed when it was last asked. */
  isDown(): boolean
}

interface WatchIndexLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The index with a memory for its outages, so that no document is prepared for one that is down. */
export function watchIndex(index: FedIndex, log: WatchIndexLog, now: () => number): WatchedIndex {
  const outage = createOutage({
    name: 'the search index',
    consequence: 'documents wait, searches fail',
    ...{ log, now },
  })
  const attempt = async (work: () => Promise<void>) => {
    outage.enter()
    try {
      await work()
      outage.ended()
    } catch (error) {
      if (error instanceof AppError && error.code === 'index_unavailable') outage.failed(error)
      throw error
    }
  }

  return {
    index: {
      add: (keys, terms, metadata) => attempt(() => index.add(keys, terms, metadata)),
      addVectors: (batch, metadata) => attempt(() => index.addVectors(batch, metadata)),
      remove: (keys) => attempt(() => index.remove(keys)),
    },
    pauseMs: outage.pauseMs,
    isDown: outage.isDown,
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await untilAborted(promise, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether `work` settles within `milliseconds`. */
export async function settlesWithin(
  work: Promise<unknown>,
  milliseconds: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, milliseconds, false)
  const settled = () => true
  try {
    return await Promise.race([work.then(settled, settled), promise])
  } finally {
    clearTimeout(timer)
  }
}

/** How long a part that failed is left alone: doubled with each failure. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
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

/** Remembers whether a part of the outside world works, so that not every caller has to find out. */
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
      closedUntil = now() + Math.min(LONGEST_PAUSE_MS, pause)
      if (isNew) {
        log.warn({ err: error }, `${name} does not work: ${consequence}`)
      }
    },
    pauseMs,
    isDown: () => last !== undefined,
    quietMs: () => (last ? Number.POSITIVE_INFINITY : now() - worked),
  }
}
