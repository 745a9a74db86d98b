import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { FolderToWatch, WatchedFolders } from '@agent-server/schemas/operator/watch.ts'
import type { Timing } from './apply-changes.ts'
import { createWatchedFolder, type FolderDependencies } from './watched-folder.ts'

/** A disk that does not respond must not occupy all threads that read files. */
const MAX_READ = 2
const TIMING: Timing = { settleMs: 2_000, rescanMs: 60_000, retryMs: 10_000 }

interface WatchSettings {
  folders: readonly FolderToWatch[]
  /** The largest file that is ingested, in bytes. */
  maxBytes: number
  /** The most documents that may be queued for ingestion; folders use half of it. */
  queueLimit: number
}

export type Watch = ReturnType<typeof openWatch>

/** Keeps folders and the documents of their files equal, in the background. */
export function openWatch(
  { folders, maxBytes, queueLimit }: WatchSettings,
  parts: Pick<FolderDependencies, 'store' | 'documents' | 'log'>,
  timing = TIMING,
) {
  const turns = createLimiter({ name: 'watched folders', capacity: MAX_READ })
  const dependencies = { ...parts, maxBytes, maxQueued: queueLimit / 2, turns, timing }
  const watched = folders.map((folder) => createWatchedFolder(folder, dependencies))
  return {
    /** Follows them until `signal` is aborted; unfinished work continues after the next start. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.all(watched.map(({ run }) => run(signal)))
    },
    /** The state of each folder. */
    async list(): Promise<WatchedFolders> {
      return { folders: await Promise.all(watched.map(({ describe }) => describe())) }
    },
  }
}
