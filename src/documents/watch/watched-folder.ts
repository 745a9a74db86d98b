import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pause, repeat, untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import { codeOf, explainPath } from '@agent-server/lib/system-error.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { FolderToWatch } from '@agent-server/schemas/operator/watch.ts'
import { isDocumentGone, type OpenedStore } from '@agent-server/stores'
import { type ApplyDependencies, createApplyChanges } from './apply-changes.ts'
import { accessChange, documentsOf } from './folder-documents.ts'
import { createFolderEvents } from './folder-events.ts'
import { createFolderState } from './folder-state.ts'
import { type Observations, observe, openOf, UNSEEN } from './observations.ts'
import { FolderError, type FolderScan, walkFolder } from './walk-folder.ts'

/** The pause after a scan is four times its duration, so that no folder occupies the server. */
const REST_FACTOR = 4
const LOOK_MS = 600_000

const LATE = 'The folder does not respond: check its disk or network drive'
const EMPTY =
  'The folder is empty, but documents came from it. None was deleted, in case its drive is not mounted. If it is meant to be empty, delete the documents on the Documents page'

export interface FolderDependencies extends ApplyDependencies {
  store: ApplyDependencies['store'] & Pick<OpenedStore, 'withExclusiveLock'>
}

/** Keeps the documents of one folder equal to its files. */
export function createWatchedFolder(folder: FolderToWatch, dependencies: FolderDependencies) {
  const { store, documents, log, timing } = dependencies
  const root = resolve(folder.path)
  const observations: Observations = new Map()
  const notifier = createNotifier()
  const events = createFolderEvents(root, notifier.notify, log)
  const state = createFolderState(folder, observations, dependencies)
  const applyChanges = createApplyChanges({ folder, root, observations, state }, dependencies)
  const scanFolder = createScanner(root)

  const compare = async (scan: FolderScan, signal: AbortSignal): Promise<void> => {
    state.scanned(scan)
    events.follow(scan.folders)
    const isEmptied = scan.files.size === 0 && observations.values().some(({ isTaken }) => isTaken)
    if (isEmptied) return state.report('failed', EMPTY)
    observe(observations, scan, performance.now(), timing.settleMs)
    await applyChanges(signal)
  }

  /** Waits for a change, or until something is due. */
  const rest = async (scanMs: number, signal: AbortSignal): Promise<void> => {
    const restMs = scanMs * REST_FACTOR
    await pause(Math.max(timing.settleMs, restMs), signal)
    const dueMs = openOf(observations).nextAt - performance.now()
    const waitMs = Math.min(Math.max(timing.rescanMs, restMs), dueMs)
    signal.addEventListener('abort', notifier.notify)
    if (waitMs > 0) await notifier.wait(waitMs)
    signal.removeEventListener('abort', notifier.notify)
    signal.throwIfAborted()
  }

  const giveAccess = async (
    id: string,
    { access, metadata }: NonNullable<ReturnType<typeof accessChange>>,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      // A change of metadata needs the index; rights alone do not wait for it.
      await documents.patch(everything(), id, { access }, signal)
      if (metadata) await documents.patch(everything(), id, { metadata }, signal)
    } catch (error) {
      if (!isDocumentGone(error)) throw error
    }
  }

  /** Follows the folder while no other server does. */
  const follow = async (signal: AbortSignal): Promise<void> => {
    observations.clear()
    for await (const { path, document } of documentsOf(store, folder.path, signal)) {
      observations.set(path, UNSEEN)
      const change = accessChange(folder, document)
      if (change) await giveAccess(document.id, change, signal)
    }
    for (;;) {
      const start = performance.now()
      const scan = await scanFolder(signal)
      const scanMs = performance.now() - start
      await compare(scan, signal)
      await rest(scanMs, signal)
    }
  }

  const attempt = async (signal: AbortSignal): Promise<void> => {
    try {
      // Before taking the lock: a server that cannot read the folder leaves it to one that can.
      await inTime(readdir(root), signal)
      const isOurs = await store.withExclusiveLock(`folder:${folder.path}`, follow, signal)
      if (!isOurs) state.report('elsewhere')
    } catch (error) {
      if (!signal.aborted) state.report('failed', whyFailed(error), error)
    } finally {
      events.close()
    }
  }

  return {
    describe: state.describe,
    /** Follows the folder until `signal` is aborted. Never throws. */
    run: (signal: AbortSignal) =>
      repeat(() => attempt(signal), { everyMs: timing.retryMs }, signal),
  }
}

/**
 * A scan that takes too long is not started again while it is still running, although its result is no longer awaited.
 */
function createScanner(root: string) {
  let scanning: Promise<FolderScan> | undefined
  return (signal: AbortSignal): Promise<FolderScan> => {
    scanning ??= walkFolder(root, signal).finally(() => {
      scanning = undefined
    })
    return inTime(scanning, signal)
  }
}

function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const wait = (stop: AbortSignal) => untilAborted(work, stop)
  return withDeadline(LOOK_MS, wait, () => new FolderError(LATE), signal)
}

function whyFailed(error: unknown): string {
  if (error instanceof FolderError || error instanceof AppError) return error.message
  return explainPath(error) ?? `The folder cannot be read (${codeOf(error) ?? 'see the log'})`
}
