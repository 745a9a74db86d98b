import { pause } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { CorpusServices } from '../services.ts'

/** Shorter than the program, and common proxies, wait for an answer. */
const MAX_WAIT_MS = 50_000
const POLL_MS = 200

/**
 * Returns a function that does work which adds a document, once the queue has room for it. The program gives up a file
 * that is refused with 429, and the first synchronisation of a large source sends more than the queue holds.
 */
export function createWaiting(admission: CorpusServices['admission']) {
  let running = 0
  /** Throws `queue_full` if the queue stays full, and the reason of `signal`. */
  return async <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> => {
    const until = performance.now() + MAX_WAIT_MS
    for (;;) {
      running += 1
      try {
        await admission(undefined, undefined, running - 1)
        break
      } catch (error) {
        running -= 1
        const isFull = error instanceof AppError && error.code === 'queue_full'
        if (!isFull || performance.now() > until) throw error
      }
      await pause(POLL_MS, signal)
    }
    try {
      return await work()
    } finally {
      running -= 1
    }
  }
}
