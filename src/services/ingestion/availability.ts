import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { pause } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { createOutage, type OutageLog } from '../../lib/outage.ts'

const BACKOFF = { firstMs: 100, maxMs: 15_000, factor: 4 }

export interface IngestionLog extends OutageLog {
  error(fields: object, message: string): void
}

/** The index did not take a document's chunks; `cause` says why. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
}

/** Whether a part of the outside world is to blame, and may work again for whatever document. */
export function isOutage(error: unknown): error is Error {
  if (error instanceof IndexError) return isOutage(error.cause)
  if (!(error instanceof AppError)) return false
  return error.code === 'index_unavailable' || error.code === 'store_unavailable'
}

/**
 * Does `work` again and again for as long as the index or the document store does not answer, or whatever else is
 * `worthRetrying`. Throws what is not, and the reason of `signal`.
 */
export async function untilAvailable<Output>(
  work: () => Promise<Output>,
  log: Pick<IngestionLog, 'warn'>,
  signal: AbortSignal,
  worthRetrying: (error: unknown) => boolean = isOutage,
): Promise<Output> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!worthRetrying(error)) throw error
      log.warn(
        { err: error, failures },
        'a part that the server needs does not answer; trying again',
      )
    }
    await pause(backoffMs(failures, BACKOFF), signal)
  }
}

/** The index with a memory for its outages, so that no document is prepared for one that is down. */
export function watchIndex(
  index: Pick<ChunkIndex, 'add' | 'remove'>,
  log: OutageLog,
  now: () => number,
) {
  const { run, pauseMs, isDown } = createOutage({
    name: 'the search index',
    consequence: 'documents wait, searches fail',
    isOutage: (error) => error instanceof AppError && error.code === 'index_unavailable',
    ...{ log, now },
  })
  const watched: typeof index = {
    add: (keys, terms, metadata) => run(() => index.add(keys, terms, metadata)),
    remove: (keys) => run(() => index.remove(keys)),
  }
  return { index: watched, pauseMs, isDown }
}
