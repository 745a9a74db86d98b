import type { Log } from '@agent-server/lib/log.ts'
import type { FolderToWatch, WatchedFolder } from '@agent-server/schemas/operator/watch.ts'
import type { DocumentStore } from '@agent-server/stores'
import { failedOf } from './folder-documents.ts'
import { type Observations, openOf } from './observations.ts'
import type { FolderScan } from './walk-folder.ts'

const MAX_SHOWN = 20

export interface StateDependencies {
  store: Pick<DocumentStore, 'list' | 'countListed'>
  log: Log
}

export type FolderState = ReturnType<typeof createFolderState>

/** The state of a folder, as the log and the API report it. */
export function createFolderState(
  folder: FolderToWatch,
  observations: Observations,
  { store, log }: StateDependencies,
) {
  const refused = new Map<string, string>()
  let unread: ReadonlyMap<string, string> = new Map()
  let state: WatchedFolder['state'] = 'starting'
  let problem: string | undefined
  let files = 0
  let lookedAt: string | undefined

  const warn = (path: string, reason: string, previous: string | undefined) => {
    if (previous === reason) return
    log.warn({ folder: folder.path, path, reason }, 'a file of a watched folder was not ingested')
  }

  return {
    /** Logs a problem once, and its end. */
    report(next: WatchedFolder['state'], what?: string, err?: unknown): void {
      const fields = { folder: folder.path, problem: what, err }
      if (next === 'failed' && problem !== what) log.warn(fields, 'a watched folder has a problem')
      const isNew = state !== 'following' && state !== 'waiting'
      if (next === 'following' && isNew) log.info({ ...fields, files }, 'a folder is watched')
      state = next
      problem = what
    },

    refuse(path: string, reason: string): void {
      warn(path, reason, refused.get(path))
      refused.set(path, reason)
    },
    /** Forgets that a file was refused. */
    accept: (path: string) => void refused.delete(path),

    scanned(scan: FolderScan): void {
      for (const [path, reason] of scan.unread) warn(path, reason, unread.get(path))
      unread = scan.unread
      files = scan.files.size
      lookedAt = new Date().toISOString()
    },

    async describe(): Promise<WatchedFolder> {
      const { failed, count } = await failedOf(store, folder.path, MAX_SHOWN)
      const unreadFiles = [...unread, ...refused].map(([path, reason]) => ({ path, reason }))
      return {
        ...folder,
        state,
        ...(problem !== undefined && { problem }),
        files,
        open: openOf(observations).count,
        ...(lookedAt !== undefined && { lookedAt }),
        refused: [...unreadFiles, ...failed].slice(0, MAX_SHOWN),
        refusedCount: unreadFiles.length + count,
      }
    },
  }
}
