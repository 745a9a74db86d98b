import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy, unavailable } from './sqlite-error.ts'

export interface DirectoryLock {
  release(): void
}

/**
 * Takes the data directory for this process alone. The lock is the operating system's, held on a file of
 * its own, so it ends with the process however that ends. Throws `store_unavailable` at once if it is taken.
 */
export function lockDirectory(directory: string): DirectoryLock {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(directory, 'agent-server.lock'), { timeout: 0 })
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (!isBusy(error)) throw unavailable(`Cannot write in the data directory ${directory}`, error)
    throw unavailable(
      `Another server is using the data directory ${directory}. Stop it, or set DATA_DIR to another directory.`,
      error,
    )
  }
  const held = file
  return { release: () => held.close() }
}
