import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/embedding.ts'
import { pause, settlesWithin, watchIndex } from './availability.ts'
import { createNotifier } from './completion-waiter.ts'
import {
  createInFlightJobs,
  type IngestionOutcome,
  type IngestionStatistics,
} from './in-flight-jobs.ts'
import type { Preparer } from './prepare.ts'
import { createDocumentIngestion, createMakeReady, type IngestionLog } from './process-document.ts'
import { createPublisher } from './publish.ts'
import { createLongPublishing, type LongDocumentStore } from './publish-long.ts'
import { backoffMs, RETRY, type RetryOptions } from './retry-policy.ts'
import type { OpenSourceOf } from './uploads.ts'

/** How long claims that outlive the grace have to be given back. */
const RELEASE_MS = 2_000

export interface IngestionOptions {
  store: Pick<
    DocumentStore,
    | 'recoverJobs'
    | 'claimJobs'
    | 'completeJob'
    | 'failJob'
    | 'releaseJob'
    | 'nextJobAt'
    | 'reserveChunkKeys'
    | 'readChunks'
  > &
    LongDocumentStore
  index: Pick<ChunkIndex, 'add' | 'addVectors' | 'remove'>
  preparer: Pick<Preparer, 'prepare' | 'preparePiece'>
  /** Where the text of a claimed document comes from. */
  openSource: OpenSourceOf
  /** Absent where search goes by words alone. */
  embedding?: Pick<Embedding, 'documents' | 'pauseMs'> | undefined
  log: IngestionLog
  /** The most documents under way at a time. */
  concurrency: number
  retry?: RetryOptions
  /** Milliseconds since the epoch, as the document store counts them. */
  now?: () => number
  /** Called at the end of each claim. Must not throw. */
  onOutcome?: (outcome: IngestionOutcome) => void
}

export interface Ingestion {
  /** Takes back the claims of an earlier process, then works through the queue until stopped. */
  start(): Promise<void>
  /** Says that a document came. */
  wake(): void
  /** Claims nothing more, waits for what is under way, and gives back what is not done within the grace. */
  stop(graceMs: number): Promise<void>
  statistics(): IngestionStatistics
}

/** The background worker that makes pending documents ready, or failed for a reason that is told. */
export function createIngestion(options: IngestionOptions): Ingestion {
  const { store, index, preparer, openSource, embedding, log, concurrency } = options
  const { retry = RETRY, now = Date.now } = options
  const watched = watchIndex(index, log, now)
  const publisher = createPublisher({ store, index: watched.index, log })
  const parts = { preparer, publisher, embedding }
  const publishLong = createLongPublishing({ store, index: watched.index, ...parts })
  const makeReady = createMakeReady({ openSource, publishLong, ...parts })
  const ingest = createDocumentIngestion({ store, makeReady, publisher, retry, now, log })
  const abandoned = new AbortController()

  const work = createInFlightJobs({
    concurrency,
    ingest: (job) => ingest(job, abandoned.signal),
    onEnd(outcome) {
      options.onOutcome?.(outcome)
      if (outcome.status === 'waiting') resumeLater()
      else if (outcome.status === 'retried') loop.jobCame()
      else loop.roomCame()
    },
  })
  // Nothing is claimed while nothing could be embedded or indexed.
  const pauseMs = () => Math.max(embedding?.pauseMs() ?? 0, watched.pauseMs())
  const room = () => {
    // One document tries whether the index works again.
    if (watched.isDown() && work.statistics().underWay > 0) return 0
    if (pauseMs() === 0) return watched.isDown() ? 1 : work.room()
    resumeLater()
    return 0
  }
  const loop = createClaimLoop({ store, room, take: work.take, now, log })
  let alarm: NodeJS.Timeout | undefined
  const resumeLater = () => {
    alarm ??= setTimeout(() => {
      alarm = undefined
      loop.jobCame()
    }, pauseMs())
  }
  let looping: Promise<void> = Promise.resolve()

  return {
    async start() {
      const recovered = await store.recoverJobs()
      if (recovered > 0) log.info({ documents: recovered }, 'taking up interrupted ingestion')
      looping = loop.run()
    },
    wake: loop.jobCame,
    async stop(graceMs) {
      loop.stop()
      clearTimeout(alarm)
      const finished = looping.then(work.done)
      if (await settlesWithin(finished, graceMs)) return
      log.warn({ ...work.statistics() }, 'giving back documents whose ingestion is not finished')
      abandoned.abort(new AppError('shutting_down', 'The server is shutting down'))
      await settlesWithin(finished, RELEASE_MS)
    },
    statistics: work.statistics,
  }
}

/** Asks for work this often though nobody rang: other servers may share the document store. */
const IDLE_POLL_MS = 30_000
/** Where nothing was to be had though something is due: the document store's clock is behind, or another server took it. */
const LEAST_PAUSE_MS = 100
const OUTAGE_BACKOFF = { firstMs: 100, mostMs: 30_000 }

interface Dependencies {
  store: Pick<DocumentStore, 'claimJobs' | 'nextJobAt'>
  /** How many more jobs should be taken now. */
  room: () => number
  take: (job: IngestionJob) => void
  now: () => number
  log: { warn(fields: object, message: string): void }
}

interface ClaimLoop {
  /** Claims jobs as long as there are any and there is room for them, until stopped. */
  run(): Promise<void>
  /** There may be a job that was not there before. */
  jobCame(): void
  /** There may be room that was not there before. */
  roomCame(): void
  stop(): void
}

/** Survives a document store that does not answer: asks again, ever more seldom. */
export function createClaimLoop({ store, room, take, now, log }: Dependencies): ClaimLoop {
  const bell = createNotifier()
  const stopped = new AbortController()
  let drained = false
  let foundNothing = false
  let dueAt = Number.POSITIVE_INFINITY
  let outages = 0

  const claim = async () => {
    // Claims that end together free their room together.
    await nextTurn()
    const limit = room()
    drained = true
    const jobs = await store.claimJobs(limit)
    foundNothing = jobs.length === 0
    for (const job of jobs) take(job)
    if (jobs.length === limit) drained = false
    else dueAt = (await store.nextJobAt()) ?? Number.POSITIVE_INFINITY
    outages = 0
  }

  const sleep = async () => {
    const least = foundNothing ? LEAST_PAUSE_MS : 0
    const untilDue = drained ? Math.max(least, dueAt - now()) : IDLE_POLL_MS
    const isRung = await bell.wait(Math.min(untilDue, IDLE_POLL_MS))
    if (!isRung) drained = false
  }

  const claimOrWait = async () => {
    try {
      await claim()
    } catch (error) {
      outages++
      drained = false
      log.warn({ err: error, outages }, 'cannot claim documents for ingestion; asking again')
      await pause(backoffMs(outages, OUTAGE_BACKOFF), stopped.signal)
    }
  }

  return {
    async run() {
      try {
        while (!stopped.signal.aborted) {
          if (drained || room() <= 0) await sleep()
          else await claimOrWait()
        }
      } catch (error) {
        if (!stopped.signal.aborted) throw error
      }
    },
    jobCame() {
      drained = false
      bell.ring()
    },
    roomCame: bell.ring,
    stop() {
      stopped.abort(new Error('stopped'))
      bell.ring()
    },
  }
}
