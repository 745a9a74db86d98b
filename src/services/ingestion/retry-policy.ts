import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { pause } from '../../lib/abort.ts'
import { type Backoff, backoffMs } from '../../lib/backoff.ts'
import { createOutage, type OutageLog } from '../../lib/outage.ts'
import type { DocumentFailure } from '../../stores/document-store.ts'
import { ExtractionError } from '../extraction/extracted.ts'

export interface RetryOptions {
  /** How often a document is tried before it fails for good, counting every claim, also those a crash ended. */
  attempts: number
  backoff: Backoff
}

export const RETRY: RetryOptions = {
  attempts: 5,
  backoff: { firstMs: 1_000, maxMs: 300_000, factor: 4 },
}

/**
 * What a document's `error` may hold as its code (see docs/ingestion.md), with the most attempts that a document
 * is given which fails like this: too slow, too big or refused may be the moment's fault, but hardly twice.
 */
const MAX_ATTEMPTS = {
  empty_document: 1,
  unsupported_file: 1,
  encrypted_file: 1,
  damaged_file: 1,
  file_too_complex: 1,
  text_too_long: 1,
  extraction_timeout: 2,
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

/** What a failed attempt reports to the owner of the document. Never the words of an unknown error. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ExtractionError || error instanceof PreparationError) {
    return { code: error.code, message: error.message }
  }
  if (error instanceof IndexError) {
    return isOutage(error)
      ? { code: 'index_unavailable', message: 'The search index does not work at the moment' }
      : { code: 'index_failed', message: 'The search index did not take the document' }
  }
  if (error instanceof AppError) {
    const { code, message } = error
    if (code === 'store_unavailable' || code === 'storage_full') return { code, message }
  }
  return { code: 'internal', message: 'Ingestion failed; the log of the server says why' }
}

export function exhausted(attempts: number): Failure {
  const message = `Ingestion was begun ${attempts} times and never came to an end`
  return { code: 'attempts_exhausted', message }
}

/** Whether a document that failed like this at its `attempt`th attempt is given another one. */
export function isWorthRetrying({ code }: Failure, attempt: number, attempts: number): boolean {
  return attempt < Math.min(attempts, MAX_ATTEMPTS[code])
}

/** Splitting and analysing a document did not survive it: as far as anyone can tell the document is to blame. */
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
  const isMemory = Object(cause).code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? 'took too much memory' : 'crashed; the log of the server says why'
}

const OUTAGE_BACKOFF = { firstMs: 100, maxMs: 15_000, factor: 4 }

export interface IngestionLog extends OutageLog {
  error(fields: object, message: string): void
}

/** The index did not take a document's chunks; `cause` says why. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
}

/** Whether the index or the document store is to blame, rather than this document. */
export function isOutage(error: unknown): error is Error {
  if (error instanceof IndexError) return isOutage(error.cause)
  if (!(error instanceof AppError)) return false
  return error.code === 'index_unavailable' || error.code === 'store_unavailable'
}

/**
 * Repeats `work` for as long as it fails with something `worthRetrying`: by default, while the index or the document
 * store does not answer. Throws every other error, and the reason of `signal`.
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
    await pause(backoffMs(failures, OUTAGE_BACKOFF), signal)
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
