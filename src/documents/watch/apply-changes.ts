import { untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Limiter } from '@agent-server/lib/limiter.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { FolderToWatch } from '@agent-server/schemas/operator/watch.ts'
import { type DocumentStore, isDocumentGone } from '@agent-server/stores'
import type { AllDocuments } from '../ingestion/documents.ts'
import { documentIdOf, isFrom } from './folder-documents.ts'
import type { FolderState, StateDependencies } from './folder-state.ts'
import { dueOf, type Observations, UNSEEN } from './observations.ts'
import { createTakeFile, type Outcome } from './take-file.ts'

/** The deadline for ingesting one file. */
const TAKE_MS = 600_000

const BUSY = 'Many documents wait to be processed; more files are taken as soon as there is room'

export interface Timing {
  /** How long a file must be unchanged before it is ingested, or gone before its document is deleted. */
  settleMs: number
  /** The interval of full scans, whether or not a change was reported. */
  rescanMs: number
  /** The pause after a failure. */
  retryMs: number
}

export interface ApplyDependencies extends StateDependencies {
  store: StateDependencies['store'] &
    Pick<DocumentStore, 'counts' | 'get' | 'stageFile' | 'dropStaged'>
  documents: Pick<AllDocuments, 'put' | 'patch' | 'remove'>
  maxBytes: number
  /** So many documents may be queued before the folder waits, which leaves room for others. */
  maxQueued: number
  /** Limits how many files are read at a time, of all folders together. */
  turns: Pick<Limiter, 'run'>
  timing: Timing
}

interface Watched {
  folder: FolderToWatch
  /** Where it is. */
  root: string
  observations: Observations
  state: FolderState
}

/** Returns a function that ingests and deletes what is due, until the queue is full or the next scan is due. */
export function createApplyChanges(watched: Watched, dependencies: ApplyDependencies) {
  const { observations, state } = watched
  const { store, maxQueued, turns, timing } = dependencies
  const take = createTake(watched, dependencies)
  const remove = createRemove(watched, dependencies)

  const apply = async (path: string, signal: AbortSignal): Promise<void> => {
    const { stamp, isTaken } = observations.get(path) ?? UNSEEN
    if (stamp !== undefined) return take(path, stamp, signal)
    if (isTaken) await remove(path)
    observations.delete(path)
    state.accept(path)
  }

  return async (signal: AbortSignal): Promise<void> => {
    const due = dueOf(observations, performance.now()).values()
    const until = performance.now() + timing.rescanMs
    let isFull = false
    const worker = async () => {
      for (const [path] of due) {
        signal.throwIfAborted()
        isFull ||= (await store.counts()).jobs >= maxQueued
        if (isFull || performance.now() > until) return
        await turns.run(undefined, () => apply(path, signal), signal)
      }
    }
    const results = await Promise.allSettled([worker(), worker()])
    const failed = results.find((each) => each.status === 'rejected')
    if (failed && codeOf(failed.reason) !== 'queue_full') throw failed.reason
    if (isFull || failed) state.report('waiting', BUSY)
    else state.report('following')
  }
}

/** Ingests one file and records the outcome. Throws errors that concern all files. */
function createTake({ folder, root, observations, state }: Watched, parts: ApplyDependencies) {
  const { log, timing } = parts
  const takeFile = createTakeFile({ ...parts, folder, root })

  const attempt = async (path: string, stamp: string, signal: AbortSignal) => {
    const work = (stop: AbortSignal) => untilAborted(takeFile(path, stamp, stop), stop)
    try {
      return await withDeadline(
        TAKE_MS,
        work,
        () => new LateError('cannot be read in time'),
        signal,
      )
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError) throw error
      return { failure: whyUnread(error, log) }
    }
  }

  const note = (path: string, stamp: string, outcome: Outcome | { failure: string }) => {
    const { isTaken = false } = observations.get(path) ?? {}
    const now = performance.now()
    const observation = { stamp, dueAt: Number.POSITIVE_INFINITY, isTaken }
    if (outcome === 'changed') observations.set(path, { stamp: '', dueAt: now, isTaken })
    else if (outcome === 'later')
      observations.set(path, { ...observation, dueAt: now + timing.settleMs })
    else if (typeof outcome === 'string') {
      observations.set(path, { ...observation, isTaken: true })
      state.accept(path)
    } else if ('refusal' in outcome) {
      observations.set(path, observation)
      state.refuse(path, outcome.refusal)
    } else {
      observations.set(path, { ...observation, dueAt: now + timing.rescanMs })
      state.refuse(path, outcome.failure)
    }
  }

  return async (path: string, stamp: string, signal: AbortSignal): Promise<void> =>
    note(path, stamp, await attempt(path, stamp, signal))
}

class LateError extends Error {}

/** Why one file could not be read; perhaps temporarily. */
function whyUnread(error: unknown, log: StateDependencies['log']): string {
  if (error instanceof LateError) return error.message
  if (error instanceof Error && 'syscall' in error) return `cannot be read (${codeOf(error)})`
  log.error({ err: error }, 'ingesting a file of a watched folder failed')
  return 'failed unexpectedly; the log has the cause'
}

/** Deletes the document of a deleted file, if it came from there. */
function createRemove(
  { folder }: Watched,
  { store, documents, log }: Pick<ApplyDependencies, 'store' | 'documents' | 'log'>,
) {
  return async (path: string): Promise<void> => {
    const document = await store.get(everything(), documentIdOf(folder.path, path))
    if (!document || !isFrom(folder.path, path, document)) return
    try {
      await documents.remove(everything(), document.id)
      log.info(
        { folder: folder.path, path, documentId: document.id },
        'deleted the document of a file',
      )
    } catch (error) {
      if (!isDocumentGone(error)) throw error
    }
  }
}
