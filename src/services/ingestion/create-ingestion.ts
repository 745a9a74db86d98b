import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { settlesWithin } from './abortable.ts'
import { createClaimLoop } from './claim-jobs.ts'
import { createDocumentIngestion, type IngestionLog } from './ingest-document.ts'
import { createMakeReady } from './make-ready.ts'
import type { OpenSourceOf } from './open-source.ts'
import type { Preparer } from './prepare.ts'
import { createPublisher } from './publish-documents.ts'
import { createLongPublishing, type LongDocumentStore } from './publish-long-document.ts'
import { RETRY, type RetryOptions } from './retry-policy.ts'
import { watchIndex } from './watch-index.ts'
import {
  createWorkInHand,
  type IngestionOutcome,
  type IngestionStatistics,
} from './work-in-hand.ts'

/** How long claims that outlive the grace have to be given back. */
const RELEASE_MILLISECONDS = 2_000

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
  embedding?: Pick<Embedding, 'documents' | 'pauseMilliseconds'> | undefined
  log: IngestionLog
  /** The most documents under way at a time. */
  concurrency: number
  retry?: RetryOptions
  /** Milliseconds since the epoch, as the authority counts them. */
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
  stop(graceMilliseconds: number): Promise<void>
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

  const work = createWorkInHand({
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
  const pauseMilliseconds = () =>
    Math.max(embedding?.pauseMilliseconds() ?? 0, watched.pauseMilliseconds())
  const room = () => {
    // One document tries whether the index works again.
    if (watched.isDown() && work.statistics().underWay > 0) return 0
    if (pauseMilliseconds() === 0) return watched.isDown() ? 1 : work.room()
    resumeLater()
    return 0
  }
  const loop = createClaimLoop({ store, room, take: work.take, now, log })
  let alarm: NodeJS.Timeout | undefined
  const resumeLater = () => {
    alarm ??= setTimeout(() => {
      alarm = undefined
      loop.jobCame()
    }, pauseMilliseconds())
  }
  let looping: Promise<void> = Promise.resolve()

  return {
    async start() {
      const recovered = await store.recoverJobs()
      if (recovered > 0) log.info({ documents: recovered }, 'taking up interrupted ingestion')
      looping = loop.run()
    },
    wake: loop.jobCame,
    async stop(graceMilliseconds) {
      loop.stop()
      clearTimeout(alarm)
      const finished = looping.then(work.done)
      if (await settlesWithin(finished, graceMilliseconds)) return
      log.warn({ ...work.statistics() }, 'giving back documents whose ingestion is not finished')
      abandoned.abort(new AppError('shutting_down', 'The server is shutting down'))
      await settlesWithin(finished, RELEASE_MILLISECONDS)
    },
    statistics: work.statistics,
  }
}
