import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import { pause } from './abortable.ts'
import { createDoorbell } from './doorbell.ts'
import { backoffMilliseconds } from './retry-policy.ts'

/** Asks for work this often though nobody rang: other servers may share the authority. */
const IDLE_POLL_MILLISECONDS = 30_000
/** Where nothing was to be had though something is due: the authority's clock is behind, or another server took it. */
const LEAST_PAUSE_MILLISECONDS = 100
const OUTAGE_BACKOFF = { firstMilliseconds: 100, mostMilliseconds: 30_000 }

interface Dependencies {
  store: Pick<DocumentStore, 'claimJobs' | 'nextJobAt'>
  /** How many more jobs should be taken now. */
  room: () => number
  take: (job: IngestionJob) => void
  now: () => number
  log: { warn(fields: object, message: string): void }
}

export interface ClaimLoop {
  /** Claims jobs as long as there are any and there is room for them, until stopped. */
  run(): Promise<void>
  /** There may be a job that was not there before. */
  jobCame(): void
  /** There may be room that was not there before. */
  roomCame(): void
  stop(): void
}

/** Survives an authority that does not answer: asks again, ever more seldom. */
export function createClaimLoop({ store, room, take, now, log }: Dependencies): ClaimLoop {
  const bell = createDoorbell()
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
    const least = foundNothing ? LEAST_PAUSE_MILLISECONDS : 0
    const untilDue = drained ? Math.max(least, dueAt - now()) : IDLE_POLL_MILLISECONDS
    const isRung = await bell.wait(Math.min(untilDue, IDLE_POLL_MILLISECONDS))
    if (!isRung) drained = false
  }

  const claimOrWait = async () => {
    try {
      await claim()
    } catch (error) {
      outages++
      drained = false
      log.warn({ err: error, outages }, 'cannot claim documents for ingestion; asking again')
      await pause(backoffMilliseconds(outages, OUTAGE_BACKOFF), stopped.signal)
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
