import { inSlices, type Notice } from '../../lib/processes/thread.ts'
import type { LexicalIndex } from './lexical.ts'
import { chooseMerge, chooseMergeToWrite, mergeSegments } from './merge.ts'
import { MAX_CHUNKS, type Segment } from './segment.ts'
import type { Snapshot } from './snapshot.ts'

/** Maximum number of unwritten chunks: after a crash they must be indexed again. */
const MAX_UNWRITTEN = MAX_CHUNKS / 8
/** Time without changes, in ms, after which pending changes are written, so that a crash loses nothing. */
export const QUIET_MS = 2_000
/** More segments would slow down searches: above this number, additions wait for merges (back-pressure). */
const MAX_SEGMENTS = 128

interface Dependencies {
  index: LexicalIndex
  snapshot: Snapshot
  notify: (notice: Notice) => void
  quietMs?: number
}

/** Merges and writes segments in the background, one job at a time, without blocking searches. */
export function createMaintenance({ index, snapshot, notify, quietMs = QUIET_MS }: Dependencies) {
  const { enqueue, run, whenDone } = createJobs(notify)
  let awake = false
  let writtenVersion = index.version
  let writeAbove = MAX_UNWRITTEN
  let quiet: NodeJS.Timeout | undefined

  const unwritten = () => index.segments.filter((segment) => !snapshot.isWritten(segment))

  const merge = async (sources: readonly Segment[]): Promise<Segment> => {
    const merge = await inSlices(mergeSegments(sources))
    index.replace(sources, merge)
    return merge.merged
  }

  const write = async () => {
    const version = index.version
    if (version === writtenVersion) return
    let fresh = unwritten()
    for (let group = chooseMergeToWrite(fresh); group; group = chooseMergeToWrite(fresh)) {
      const merged = await merge(group)
      fresh = [...fresh.filter((segment) => !group?.includes(segment)), merged]
    }
    await snapshot.save(
      index.segments.filter((segment) => snapshot.isWritten(segment) || fresh.includes(segment)),
    )
    writtenVersion = version
    writeAbove = MAX_UNWRITTEN
  }

  const tidy = async () => {
    const group = chooseMerge(index.segments)
    if (group) await merge(group)
    const waiting = unwritten().reduce((sum, { live }) => sum + live, 0)
    if (waiting > writeAbove) {
      writeAbove = waiting + MAX_UNWRITTEN
      await write()
    }
    if (chooseMerge(index.segments)) wake()
  }

  /** Called after each change. */
  const wake = () => {
    quiet ??= setTimeout(run, quietMs, write).unref()
    quiet.refresh()
    if (awake) return
    awake = true
    run(() => {
      awake = false
      return tidy()
    })
  }

  return {
    wake,

    /** Resolves at once, or after a merge if there are too many segments. */
    async room() {
      if (index.segments.length <= MAX_SEGMENTS) return
      wake()
      await whenDone()
    },

    /** Resolves when the current content of the index is on disk. */
    flush: () => enqueue(write),
  }
}

/** A queue that runs jobs one after another. */
export function createJobs(notify: Dependencies['notify']) {
  let jobs: Promise<unknown> = Promise.resolve()
  const enqueue = (job: () => Promise<void>): Promise<void> => {
    const done = jobs.then(job)
    jobs = done.catch(() => undefined)
    return done
  }
  return {
    enqueue,
    /** Queues a job whose result is not awaited; a failure is logged. */
    run(job: () => Promise<void>): void {
      enqueue(job).catch((error: unknown) => {
        const message = 'the search index could not be merged or written'
        notify({ message, fields: { err: error } })
      })
    },
    whenDone: () => jobs,
  }
}
