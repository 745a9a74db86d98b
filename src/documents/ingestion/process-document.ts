import { untilAborted } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { DocumentStore, IngestionJob } from '@agent-server/stores'
import type { Preparer } from './preparer.ts'
import { type Publisher, UnconfirmedError } from './publish.ts'
import {
  exhausted,
  type Failure,
  isOutage,
  isWorthRetrying,
  type RetryOptions,
  toFailure,
  untilAvailable,
} from './retry-policy.ts'
import { type OpenSource, preparedSegments } from './segments.ts'

/** How one claim of one document ended. */
export type ClaimEnd =
  | { status: 'ready'; chunks: number; characters: number }
  /** `failed` is final; `retried` means that there will be another attempt. */
  | { status: 'failed' | 'retried'; failure: Failure }
  /** Deleted or replaced in the meantime. */
  | { status: 'superseded' }
  /** Released unfinished by a shutdown. */
  | { status: 'released' }
  /** Released unfinished because the index or the document store is down. */
  | { status: 'waiting'; failure: Failure }

interface Dependencies {
  store: Pick<DocumentStore, 'failJob' | 'releaseJob'>
  openSource: OpenSource
  preparer: Pick<Preparer, 'prepare'>
  publisher: Publisher
  retry: RetryOptions
  log: Pick<Log, 'info' | 'warn' | 'error'>
}

/**
 * Processes one claimed document from its text or file to its chunks, or to the reason why there are none. Never
 * throws: if the document store cannot store the outcome, it is retried until it succeeds or `signal` is aborted,
 * which releases the claim.
 */
export function createDocumentIngestion(dependencies: Dependencies) {
  const { store, publisher, retry, log } = dependencies

  const attempt = async (job: IngestionJob, signal: AbortSignal): Promise<ClaimEnd> => {
    if (job.attempt > retry.attempts) return fail(job, exhausted(retry.attempts), signal)
    try {
      return await makeReady(dependencies, job, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isOutage(error)) {
        const failure = toFailure(error)
        await untilAnswered(() => store.releaseJob(job, failure), log, signal)
        return { status: 'waiting', failure }
      }
      log.warn({ err: error, ...describe(job) }, 'ingestion attempt failed')
      if (error instanceof UnconfirmedError) return resolveUnconfirmed(job, error, signal)
      return fail(job, toFailure(error), signal)
    }
  }

  const fail = async (
    job: IngestionJob,
    failure: Failure,
    signal: AbortSignal,
  ): Promise<ClaimEnd> => {
    const again = isWorthRetrying(failure, job.attempt, retry.attempts)
    const retryMs = again ? backoffMs(job.attempt, retry.backoff) : undefined
    const isCurrent = await untilAnswered(() => store.failJob(job, failure, retryMs), log, signal)
    if (!isCurrent) return { status: 'superseded' }
    return { status: again ? 'retried' : 'failed', failure }
  }

  /** A claim that can still be failed was not completed; any other was completed, or superseded. */
  const resolveUnconfirmed = async (
    job: IngestionJob,
    { keys, cause }: UnconfirmedError,
    signal: AbortSignal,
  ): Promise<ClaimEnd> => {
    const end = await fail(job, toFailure(cause), signal)
    const exist = () => publisher.exist(keys)
    if (end.status === 'superseded' && (await untilAnswered(exist, log, signal))) {
      return { status: 'ready', chunks: keys.length, characters: job.text.length }
    }
    await publisher.forget(keys)
    return end
  }

  return async function ingest(job: IngestionJob, signal: AbortSignal): Promise<ClaimEnd> {
    try {
      return await attempt(job, signal)
    } catch (error) {
      if (!signal.aborted)
        log.error({ err: error, ...describe(job) }, 'ingestion failed unexpectedly')
      await store.releaseJob(job).catch((err: unknown) => {
        log.warn(
          { err, ...describe(job) },
          'releasing a claim failed; it is released at the next start',
        )
      })
      return { status: 'released' }
    }
  }
}

async function makeReady(
  { openSource, publisher, preparer }: Dependencies,
  job: IngestionJob,
  signal: AbortSignal,
): Promise<ClaimEnd> {
  const source = await openSource(job, signal)
  const characters = source.length
  try {
    const segments = preparedSegments(preparer, job.title, source, signal)
    const chunks = await publisher.publish(job, segments, characters, signal)
    return chunks === undefined ? { status: 'superseded' } : { status: 'ready', chunks, characters }
  } finally {
    source.close()
  }
}

/** Retries a call to the document store until it succeeds, whatever the error is. */
function untilAnswered<Output>(
  ask: () => Promise<Output>,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
  signal: AbortSignal,
): Promise<Output> {
  const answer = () => untilAborted(ask(), signal)
  return untilAvailable(answer, log, signal, () => true)
}

function describe({ documentId, revision, attempt }: IngestionJob) {
  return { documentId, revision, attempt }
}
