import { inSlices, type Notice } from '../../lib/processes/thread.ts'
import type { LexicalIndex } from './lexical.ts'
import { chooseMerge, chooseMergeToWrite, mergeSegments } from './merge.ts'
import { MAX_CHUNKS, type Segment } from './segment.ts'
import type { Snapshot } from './snapshot.ts'

/** Chunks that may wait to be written: what a crash costs is to index them again. */
const MAX_UNWRITTEN = MAX_CHUNKS / 8
/** More segments slow searches down, so whoever adds then waits for merges. */
const MAX_SEGMENTS = 128

interface Dependencies {
  index: LexicalIndex
  snapshot: Snapshot
  notify: (notice: Notice) => void
}

/** Merges and writes segments behind the searches' back, one job at a time. */
export function createMaintenance({ index, snapshot, notify }: Dependencies) {
  let jobs: Promise<unknown> = Promise.resolve()
  let awake = false
  let writtenVersion = index.version
  let writeAbove = MAX_UNWRITTEN

  const enqueue = (job: () => Promise<void>): Promise<void> => {
    const done = jobs.then(job)
    jobs = done.catch(() => undefined)
    return done
  }
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
    if (awake) return
    awake = true
    enqueue(() => {
      awake = false
      return tidy()
    }).catch((error: unknown) => {
      notify({ message: 'the search index could not be merged or written', fields: { err: error } })
    })
  }

  return {
    wake,

    /** Resolves at once, or where segments pile up, after some have been merged. */
    async room() {
      if (index.segments.length <= MAX_SEGMENTS) return
      wake()
      await jobs
    },

    /** Resolves when all that the index holds now is on the disk. */
    flush: () => enqueue(write),
  }
}
