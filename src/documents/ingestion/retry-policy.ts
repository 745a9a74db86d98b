import { pause } from '@agent-server/lib/abort.ts'
import { type Backoff, backoffMs } from '@agent-server/lib/backoff.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createOutage } from '@agent-server/lib/outage.ts'
import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { ExtractionError } from '@agent-server/readers'
import type { ChunkIndex } from '@agent-server/search'
import type { DocumentFailure } from '@agent-server/stores'

export interface RetryOptions {
  /** How often a document is tried before it fails for good. Claims that ended in a crash count too. */
  attempts: number
  backoff: Backoff
}

export const RETRY: RetryOptions = {
  attempts: 5,
  backoff: { firstMs: 1_000, maxMs: 300_000, factor: 4 },
}

/**
 * The codes that a document's `error` may have (see docs/guides/ingestion.md), each with the maximum number of attempts for
 * such a failure. Slow or crashed preparation may be caused by temporary load, but hardly twice; reading a file has so
 * much time that only the file itself can use it up.
 */
const MAX_ATTEMPTS = {
  empty_document: 1,
  unsupported_file: 1,
  encrypted_file: 1,
  damaged_file: 1,
  file_too_complex: 1,
  text_too_long: 1,
  extraction_timeout: 1,
  extraction_crashed: Number.POSITIVE_INFINITY,
  preparation_timeout: 2,
  preparation_crashed: 2,
  index_unavailable: Number.POSITIVE_INFINITY,
  index_failed: Number.POSITIVE_INFINITY,
  store_unavailable: Number.POSITIVE_INFINITY,
  storage_full: Number.POSITIVE_INFINITY,
  attempts_exhausted: 1,
  internal: Number.POSITIVE_INFINITY,
}

export const FAILURE_CODES = Object.keys(MAX_ATTEMPTS)

type FailureCode = keyof typeof MAX_ATTEMPTS

export interface Failure extends DocumentFailure {
  code: FailureCode
}

/** What a failed attempt reports to the document's owner, without the message of an unknown error. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ExtractionError || error instanceof PreparationError) {
    return { code: error.code, message: error.message }
  }
  if (error instanceof JobCrashed) {
    return {
      code: 'extraction_crashed',
      message: `The process that reads files ${error.message}`,
    }
  }
  if (error instanceof IndexError) {
    const { cause } = error
    return isOutage(cause)
      ? { code: 'index_unavailable', message: cause.message }
      : { code: 'index_failed', message: 'The search index refused the document' }
  }
  if (error instanceof AppError) {
    const { code, message } = error
    if (code === 'store_unavailable' || code === 'storage_full') return { code, message }
  }
  return { code: 'internal', message: 'Ingestion failed; see the server log' }
}

export function exhausted(attempts: number): Failure {
  const message = `Ingestion was attempted ${attempts} times without finishing`
  return { code: 'attempts_exhausted', message }
}

/** Whether a document whose attempt number `attempt` failed like this gets another one. */
export function isWorthRetrying({ code }: Failure, attempt: number, attempts: number): boolean {
  return attempt < Math.min(attempts, MAX_ATTEMPTS[code])
}

/** Splitting and analysing timed out or crashed; as far as anyone can tell, because of the document. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError'
  readonly code: 'preparation_timeout' | 'preparation_crashed'

  constructor(code: PreparationError['code'], cause?: unknown) {
    super(`Splitting and analysing the document ${reasonOf(code, cause)}`, { cause })
    this.code = code
  }
}

function reasonOf(code: PreparationError['code'], cause: unknown): string {
  if (code === 'preparation_timeout') return 'took too long'
  const isMemory = codeOf(cause) === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? 'took too much memory' : 'crashed; see the server log'
}

const OUTAGE_BACKOFF = { firstMs: 100, maxMs: 15_000, factor: 4 }

/** The index did not accept a document's chunks; `cause` says why. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
}

/** Whether the index or the document store is at fault, rather than the document. */
export function isOutage(error: unknown): error is Error {
  if (error instanceof IndexError) return isOutage(error.cause)
  if (!(error instanceof AppError)) return false
  return error.code === 'index_unavailable' || error.code === 'store_unavailable'
}

/**
 * Retries `work` while it fails with an error for which `worthRetrying` is true: by default, while the index or the
 * document store is down. Throws every other error, and the reason of `signal`.
 */
export async function untilAvailable<Output>(
  work: () => Promise<Output>,
  log: Pick<Log, 'warn'>,
  signal: AbortSignal,
  worthRetrying: (error: unknown) => boolean = isOutage,
): Promise<Output> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!worthRetrying(error)) throw error
      log.warn({ err: error, failures }, 'a part that ingestion needs is not responding; retrying')
    }
    await pause(backoffMs(failures, OUTAGE_BACKOFF), signal)
  }
}

/** Wraps the index to track its outages, so that no documents are prepared while it is down. */
export function watchIndex(
  index: Pick<ChunkIndex, 'add' | 'remove'>,
  log: Pick<Log, 'info' | 'warn'>,
  now: () => number,
) {
  const { run, pauseMs, isDown } = createOutage({
    name: 'the search index',
    consequence: 'documents wait and searches fail',
    isOutage: (error) => error instanceof AppError && error.code === 'index_unavailable',
    log,
    now,
  })
  const watched: typeof index = {
    add: (keys, terms, labels) => run(() => index.add(keys, terms, labels)),
    remove: (keys) => run(() => index.remove(keys)),
  }
  return { index: watched, pauseMs, isDown }
}
