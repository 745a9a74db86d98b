import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@agent-server/lib/log.ts'

/** Systems allow few; what happens in further folders is seen at the next regular look. */
const MAX_FOLLOWED = 1_000

/** Reports changes in folders at once. Some are missed, on network drives perhaps all: look regularly as well. */
export function createFolderEvents(root: string, onChange: () => void, log: Pick<Log, 'debug'>) {
  const watchers = new Map<string, FSWatcher>()

  const leave = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }

  const follow = (folder: string) => {
    const failed = (error: unknown) => {
      log.debug({ err: error, folder }, 'changes in a watched folder are seen later')
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
      const wanted = new Set(folders.slice(0, MAX_FOLLOWED))
      for (const folder of watchers.keys()) if (!wanted.has(folder)) leave(folder)
      for (const folder of wanted) if (!watchers.has(folder)) follow(folder)
    },
    close() {
      for (const folder of [...watchers.keys()]) leave(folder)
    },
  }
}
