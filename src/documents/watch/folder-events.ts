import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@agent-server/lib/log.ts'

/** Systems allow few; changes in further folders are noticed at the next regular scan. */
const MAX_FOLLOWED = 1_000

/** Reports changes in folders at once. Some are missed, on network drives perhaps all, so scan regularly as well. */
export function createFolderEvents(root: string, onChange: () => void, log: Pick<Log, 'debug'>) {
  const watchers = new Map<string, FSWatcher>()

  const leave = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }

  const follow = (folder: string) => {
    const failed = (error: unknown) => {
      log.debug(
        { err: error, folder },
        'changes in a watched folder are noticed only by regular scans',
      )
      leave(folder)
    }
    try {
      const watcher = watch(join(root, folder), { persistent: false }, onChange)
      watchers.set(folder, watcher.on('error', failed))
    } catch (error) {
      failed(error)
    }
  }

  return {
    /** Follows these folders, relative to the root, and no others. */
    follow(folders: readonly string[]) {
      const selection = new Set(folders.slice(0, MAX_FOLLOWED))
      for (const folder of watchers.keys()) if (!selection.has(folder)) leave(folder)
      for (const folder of selection) if (!watchers.has(folder)) follow(folder)
    },
    close() {
      for (const folder of [...watchers.keys()]) leave(folder)
    },
  }
}
