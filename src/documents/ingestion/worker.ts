import { setImmediate as nextTurn } from 'node:timers/promises'
import { pause, settlesWithin } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import type { ChunkIndex } from '@agent-server/search'
import type { DocumentStore, IngestionJob } from '@agent-server/stores'
import type { Preparer } from './preparer.ts'
import { type ClaimEnd, createDocumentIngestion } from './process-document.ts'
import { createPublisher, type PublishingStore } from './publish.ts'
import { RETRY, type RetryOptions, watchIndex } from './retry-policy.ts'
import type { OpenSource } from './segments.ts'

/** Time for claims that outlast the grace period to be released. */
const RELEASE_MS = 2_000

export interface IngestionOptions {
  store: PublishingStore &
    Pick<
      DocumentStore,
      'recoverJobs' | 'claimJobs' | 'failJob' | 'releaseJob' | 'nextJobAt' | 'counts'
    >
  index: Pick<ChunkIndex, 'add' | 'remove'>
  preparer: Pick<Preparer, 'prepare'>
  /** Where the text of a claimed document comes from. */
  openSource: OpenSource
  /** Called with the keys of chunks as soon as a keyword search can find them. Must not throw. */
  onPublished?: ((keys: readonly number[]) => void) | undefined
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** The maximum number of documents in flight. */
  concurrency: number
  retry?: RetryOptions
  /** Milliseconds since the epoch, as the document store counts them. */
  now?: () => number
  /** Called at the end of each claim. Must not throw. */
  onOutcome?: (outcome: IngestionOutcome) => void
}

/** How one claim of one document ended, for metrics and for requests that wait. */
export interface IngestionOutcome {
  documentId: string
  status: ClaimEnd['status']
  /** From claim to end. */
  milliseconds: number
  characters: number
  /** The number of chunks created; 0 unless the status is `ready`. */
  chunks: number
}

export type Ingestion = ReturnType<typeof createIngestion>

/** The background worker that makes pending documents `ready`, or `failed` with a reason. */
export function createIngestion(options: IngestionOptions) {
  const { store, log, onPublished, concurrency, retry = RETRY, now = Date.now } = options
  const watched = watchIndex(options.index, log, now)
  const publisher = createPublisher({ store, index: watched.index, onPublished, log })
  const ingest = createDocumentIngestion({ ...options, publisher, retry })
  const abandoned = new AbortController()

  const standstill = createStandstill(store)
  const inFlight = createInFlightJobs({
    concurrency,
    ingest: async (job) => standstill.learnFrom(job, await ingest(job, abandoned.signal)),
    onEnd(outcome) {
      options.onOutcome?.(outcome)
      if (outcome.status === 'waiting') resumeLater()
      else if (outcome.status === 'retried') claims.notifyJob()
      else claims.notifyCapacity()
    },
  })
  // Nothing is claimed while the index is down.
  const { pauseMs } = watched
  const room = () => {
    // While the index is down, one document at a time tests whether it works again.
    if (watched.isDown() && inFlight.statistics().underWay > 0) return 0
    if (pauseMs() === 0) return watched.isDown() ? 1 : inFlight.room()
    resumeLater()
    return 0
  }
  const roomForOthers = () =>
    pauseMs() > 0 || watched.isDown() ? { limit: 0, except: [] } : inFlight.roomForOthers()
  const claims = new ClaimLoop({ store, room, roomForOthers, take: inFlight.take, now, log })
  let resumeTimer: NodeJS.Timeout | undefined
  const resumeLater = () => {
    resumeTimer ??= setTimeout(() => {
      resumeTimer = undefined
      claims.notifyJob()
    }, pauseMs())
  }
  let looping: Promise<void> = Promise.resolve()

  return {
    /** Recovers the claims of an earlier process, then works through the queue until stopped. */
    async start() {
      const recovered = await store.recoverJobs()
      if (recovered > 0) log.info({ documents: recovered }, 'resuming interrupted ingestion')
      looping = claims.run()
    },
    /** Signals that a document has arrived. */
    wake: claims.notifyJob,
    /** Stops claiming, waits for work in flight, and releases what is unfinished after `graceMs`. */
    async stop(graceMs: number) {
      claims.stop()
      clearTimeout(resumeTimer)
      const finished = Promise.allSettled([looping.then(inFlight.done)])
      if (await settlesWithin(finished, graceMs)) return
      log.warn(inFlight.statistics(), 'releasing documents whose ingestion has not finished')
      abandoned.abort(new AppError('shutting_down', 'The server is shutting down'))
      await settlesWithin(finished, RELEASE_MS)
    },
    statistics: inFlight.statistics,
    /** For readiness: throws AppError `upstream_failed` while documents wait for a dependency that is down. */
    check: standstill.check,
  }
}

/** After so many crashes in a row, the reader is to blame and not the files. */
const CRASHES = 3

/**
 * Remembers whether documents wait for a dependency that is down, for an index that refuses them, or for a process that
 * reads files and crashes with each.
 */
function createStandstill(store: Pick<DocumentStore, 'counts'>) {
  let reason: string | undefined
  /** The last documents whose files were not read because of a crash. */
  const crashed = new Set<string>()

  const isCrashing = ({ documentId, file }: IngestionJob, end: ClaimEnd) => {
    if ('failure' in end && end.failure.code === 'extraction_crashed') {
      if (crashed.size < CRASHES) crashed.add(documentId)
    } else if (file && (end.status === 'ready' || end.status === 'failed')) crashed.clear()
    return crashed.size === CRASHES
  }

  return {
    learnFrom(job: IngestionJob, end: ClaimEnd): ClaimEnd {
      const isRefused = end.status === 'retried' && end.failure.code === 'index_failed'
      const keepsCrashing = isCrashing(job, end)
      if (end.status === 'waiting' || isRefused) reason = end.failure.message
      else if (keepsCrashing && 'failure' in end) reason = end.failure.message
      else if (!keepsCrashing && (end.status === 'ready' || end.status === 'failed')) {
        reason = undefined
      }
      return end
    },
    async check() {
      if (reason === undefined) return
      const { jobs } = await store.counts()
      if (jobs > 0) throw new AppError('upstream_failed', `Ingestion is stalled: ${reason}`)
      reason = undefined
    },
  }
}

/** In UTF-16 code units of two bytes, of which several copies exist. Text of files is bounded in `createSources`. */
const MAX_CHARACTERS = 16_000_000

interface InFlightOptions {
  concurrency: number
  ingest: (job: IngestionJob) => Promise<ClaimEnd>
  onEnd: (outcome: IngestionOutcome) => void
}

/** Tracks the documents in flight and the total length of their texts. */
function createInFlightJobs({ concurrency, ingest, onEnd }: InFlightOptions) {
  const underWay = new Set<Promise<void>>()
  const bySender = new Map<Owner, number>()
  const ended = { ready: 0, failed: 0, retried: 0, superseded: 0, released: 0, waiting: 0 }
  let characters = 0

  return {
    take(job: IngestionJob) {
      const { documentId, text, sender } = job
      const start = performance.now()
      characters += text.length
      bySender.set(sender, (bySender.get(sender) ?? 0) + 1)
      const running = ingest(job).then((end) => {
        underWay.delete(running)
        const remaining = (bySender.get(sender) ?? 1) - 1
        if (remaining > 0) bySender.set(sender, remaining)
        else bySender.delete(sender)
        characters -= text.length
        ended[end.status]++
        const { chunks, characters: read } =
          end.status === 'ready' ? end : { chunks: 0, characters: text.length }
        const milliseconds = performance.now() - start
        onEnd({ documentId, status: end.status, milliseconds, characters: read, chunks })
      })
      underWay.add(running)
    },
    /**
     * How many documents to claim now: half of the slots once at least half are free, otherwise none. One half is
     * claimed while the other is prepared, and the documents of a half share their waits for the disk.
     */
    room() {
      const free = concurrency - underWay.size
      if (free < concurrency / 2 || characters >= MAX_CHARACTERS) return 0
      return Math.ceil(concurrency / 2)
    },
    /**
     * How many documents to claim on top where all slots are taken for long, and whose not: as many again, of which a
     * sender may have no more than are still free for others; their texts may be as long again, too.
     */
    roomForOthers() {
      const hasRoom = characters < 2 * MAX_CHARACTERS
      const free = hasRoom ? Math.max(0, 2 * concurrency - underWay.size) : 0
      const except = Array.from(bySender).filter(([, held]) => held >= free)
      return { limit: Math.ceil(free / 2), except: except.map(([sender]) => sender) }
    },
    /** Resolves when nothing is in flight. */
    async done() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
    /** Documents and characters in flight, and how many claims have ended with each status so far. */
    statistics: () => ({
      underWay: underWay.size,
      charactersUnderWay: characters,
      ended: { ...ended },
    }),
  }
}

/** Polls this often without a notification, because other servers may share the document store. */
const IDLE_POLL_MS = 30_000
/** For so long all slots may be taken before others than those who have them get more. */
const FULL_MS = 1_000
/** The minimum pause if a due job could not be claimed: the store's clock is behind, or another server took it. */
const MIN_PAUSE_MS = 100
const OUTAGE_BACKOFF = { firstMs: 100, maxMs: 30_000, factor: 4 }

interface ClaimOptions {
  store: Pick<DocumentStore, 'claimJobs' | 'nextJobAt'>
  /** How many more jobs may be claimed now. */
  room: () => number
  /** How many may be claimed on top where there is no room for long, and whose not. */
  roomForOthers: () => { limit: number; except: readonly Owner[] }
  take: (job: IngestionJob) => void
  now: () => number
  log: Pick<Log, 'warn'>
}

/** Keeps claiming jobs; retries with a growing delay while the document store does not answer. */
export class ClaimLoop {
  readonly #parts: ClaimOptions
  readonly #notifier = createNotifier()
  readonly #stopped = new AbortController()
  #drained = false
  #foundNothing = false
  #dueAt = Number.POSITIVE_INFINITY
  #outages = 0
  #claimedAt = performance.now()
  /** Signals that there may be room for more jobs. */
  readonly notifyCapacity = this.#notifier.notify

  constructor(parts: ClaimOptions) {
    this.#parts = parts
  }

  /** Claims jobs while there are any and there is room for them, until stopped. */
  async run(): Promise<void> {
    try {
      while (!this.#stopped.signal.aborted) {
        if (this.#drained) await this.#sleep()
        else if (this.#parts.room() <= 0) await this.#waitForRoom()
        else await this.#orWait(() => this.#claim())
      }
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error
    }
  }

  /** Signals that there may be a new job. */
  readonly notifyJob = (): void => {
    this.#drained = false
    this.#notifier.notify()
  }

  stop(): void {
    this.#stopped.abort(new Error('stopped'))
    this.#notifier.notify()
  }

  async #claim(): Promise<void> {
    const { store, room, take } = this.#parts
    // Claims that end in the same turn of the event loop then free their slots together.
    await nextTurn()
    const limit = room()
    this.#claimedAt = performance.now()
    this.#drained = true
    const jobs = await store.claimJobs(limit)
    this.#foundNothing = jobs.length === 0
    for (const job of jobs) take(job)
    if (jobs.length === limit) this.#drained = false
    else this.#dueAt = (await store.nextJobAt()) ?? Number.POSITIVE_INFINITY
    this.#outages = 0
  }

  async #claimForOthers(): Promise<void> {
    const { store, roomForOthers, take } = this.#parts
    const { limit, except } = roomForOthers()
    this.#claimedAt = performance.now()
    if (limit === 0) return
    for (const job of await store.claimJobs(limit, except)) take(job)
    this.#outages = 0
  }

  async #sleep(): Promise<void> {
    const least = this.#foundNothing ? MIN_PAUSE_MS : 0
    const untilDue = this.#drained ? Math.max(least, this.#dueAt - this.#parts.now()) : IDLE_POLL_MS
    const isNotified = await this.#notifier.wait(Math.min(untilDue, IDLE_POLL_MS))
    if (!isNotified) this.#drained = false
  }

  async #waitForRoom(): Promise<void> {
    const left = this.#claimedAt + FULL_MS - performance.now()
    if (left > 0) await this.#notifier.wait(left)
    else await this.#orWait(() => this.#claimForOthers())
  }

  async #orWait(claiming: () => Promise<void>): Promise<void> {
    try {
      await claiming()
    } catch (error) {
      this.#outages++
      this.#drained = false
      const state = { err: error, outages: this.#outages }
      this.#parts.log.warn(state, 'claiming documents for ingestion failed; retrying')
      await pause(backoffMs(this.#outages, OUTAGE_BACKOFF), this.#stopped.signal)
    }
  }
}
