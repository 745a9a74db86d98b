import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { untilAborted } from '../../lib/abort.ts'
import { createOutage } from '../../lib/outage.ts'
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
