import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { EmbedderError } from '../../models/embedder.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/embedding.ts'
import { pause } from './availability.ts'
import { numberPages, type Preparer, withTitle } from './prepare.ts'
import { type Publisher, UnconfirmedError } from './publish.ts'
import type { createLongPublishing } from './publish-long.ts'
import {
  backoffMs,
  exhausted,
  type Failure,
  IndexError,
  isWorthRetrying,
  type RetryOptions,
  toFailure,
} from './retry-policy.ts'
import type { OpenSource, OpenSourceOf } from './uploads.ts'

export interface IngestionLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** How one claim of one document ended. */
export type ClaimEnd =
  | { status: 'ready'; chunks: number; characters: number }
  /** For good; `retried` gets another attempt. */
  | { status: 'failed' | 'retried'; failure: Failure }
  /** Deleted or replaced meanwhile. */
  | { status: 'superseded' }
  /** Given back unfinished by a shutdown. */
  | { status: 'released' }
  /** Given back unfinished because the embedder, the index or the document store is down. */
  | { status: 'waiting'; failure: Failure }

interface Dependencies {
  store: Pick<DocumentStore, 'failJob' | 'releaseJob'>
  makeReady: ReturnType<typeof createMakeReady>
  publisher: Pick<Publisher, 'exist' | 'forget'>
  retry: RetryOptions
  now: () => number
  log: IngestionLog
}

const OUTAGE_BACKOFF = { firstMs: 100, mostMs: 10_000 }

/**
 * Brings one claimed document to its end. Throws nothing: a document store that cannot be told how it went is
 * asked again until it answers or `signal` is aborted, which gives the claim back.
 */
export function createDocumentIngestion(dependencies: Dependencies) {
  const { store, makeReady, publisher, retry, now, log } = dependencies
  const untilAnswered = untilAnswers(log)

  const attempt = async (job: IngestionJob, signal: AbortSignal): Promise<ClaimEnd> => {
    if (job.attempt > retry.attempts) return fail(job, exhausted(retry.attempts), signal)
    try {
      const made = await makeReady(job, signal)
      return made ? { status: 'ready', ...made } : { status: 'superseded' }
    } catch (error) {
      signal.throwIfAborted()
      if (isOutage(error)) return await putBack(job, error, signal)
      log.warn({ err: error, ...describe(job) }, 'ingestion attempt failed')
      if (error instanceof UnconfirmedError) return settle(job, error, signal)
      return fail(job, toFailure(error), signal)
    }
  }

  const fail = async (
    job: IngestionJob,
    failure: Failure,
    signal: AbortSignal,
  ): Promise<ClaimEnd> => {
    const again = isWorthRetrying(failure, job.attempt, retry.attempts)
    const retryAt = again ? now() + backoffMs(job.attempt, retry.backoff) : undefined
    const isCurrent = await untilAnswered(() => store.failJob(job, failure, retryAt), signal)
    if (!isCurrent) return { status: 'superseded' }
    return { status: again ? 'retried' : 'failed', failure }
  }

  const putBack = async (
    job: IngestionJob,
    error: Error,
    signal: AbortSignal,
  ): Promise<ClaimEnd> => {
    const failure = toFailure(error)
    await untilAnswered(() => store.releaseJob(job, failure), signal)
    return { status: 'waiting', failure }
  }

  /** A claim that can still fail was not completed; one that cannot was completed after all, or superseded. */
  const settle = async (
    job: IngestionJob,
    { keys, cause }: UnconfirmedError,
    signal: AbortSignal,
  ): Promise<ClaimEnd> => {
    const end = await fail(job, toFailure(cause), signal)
    if (end.status === 'superseded' && (await untilAnswered(() => publisher.exist(keys), signal))) {
      return { status: 'ready', chunks: keys.length, characters: job.text.length }
    }
    await publisher.forget(keys)
    return end
  }

  const release = async (job: IngestionJob): Promise<ClaimEnd> => {
    try {
      await store.releaseJob(job)
    } catch (error) {
      log.warn({ err: error, ...describe(job) }, 'claim not given back; the next start does it')
    }
    return { status: 'released' }
  }

  return async function ingest(job: IngestionJob, signal: AbortSignal): Promise<ClaimEnd> {
    try {
      return await attempt(job, signal)
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, ...describe(job) }, 'ingestion went astray')
      return release(job)
    }
  }
}

/** Asks the document store again and again until it answers. */
function untilAnswers(log: IngestionLog) {
  return async <Output>(ask: () => Promise<Output>, signal: AbortSignal): Promise<Output> => {
    for (let failures = 1; ; failures++) {
      try {
        return await untilAborted(ask(), signal)
      } catch (error) {
        signal.throwIfAborted()
        log.warn({ err: error }, 'cannot tell the authority how ingestion went; asking again')
      }
      await pause(backoffMs(failures, OUTAGE_BACKOFF), signal)
    }
  }
}

function isOutage(error: unknown): error is Error {
  if (error instanceof IndexError) return error.isOutage
  if (error instanceof AppError) return error.code === 'store_unavailable'
  return error instanceof EmbedderError && error.kind !== 'refused'
}

function describe({ documentId, revision, attempt }: IngestionJob) {
  return { documentId, revision, attempt }
}

/** A longer text is not held in memory whole, in UTF-16 code units. */
const LONG_CHARACTERS = 524_288

interface MakeReadyDependencies {
  openSource: OpenSourceOf
  preparer: Pick<Preparer, 'prepare'>
  publisher: Pick<Publisher, 'publish'>
  publishLong: ReturnType<typeof createLongPublishing>
  /** Absent where search goes by words alone. */
  embedding?: Pick<Embedding, 'documents'> | undefined
}

interface MadeReady {
  chunks: number
  characters: number
}

/** Takes a claimed document from its text or file to its chunks. Answers nothing if the claim is no longer current. */
export function createMakeReady(dependencies: MakeReadyDependencies) {
  const { openSource, preparer, publisher, publishLong, embedding } = dependencies

  const publishWhole = async (job: IngestionJob, source: OpenSource, signal: AbortSignal) => {
    const text = [...source.pieces()].join('')
    const prepared = await preparer.prepare({ title: job.title, text }, signal)
    const chunks = numberPages(prepared.chunks, source.pageStarts)
    const vectors = await embedding?.documents(withTitle(job.title, chunks), signal)
    const extracted = job.file && text
    const { terms } = prepared
    const publishing = publisher.publish(job, { chunks, terms }, vectors, extracted)
    const isReady = await untilAborted(publishing, signal)
    return isReady ? { chunks: chunks.length } : undefined
  }

  return async (job: IngestionJob, signal: AbortSignal): Promise<MadeReady | undefined> => {
    const source = await openSource(job, signal)
    const { characters, close } = source
    const publish = characters > LONG_CHARACTERS ? publishLong : publishWhole
    const made = await publish(job, source, signal).finally(close)
    return made && { ...made, characters }
  }
}
