import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runJob } from '../../lib/child-process.ts'
import { createSharedWork } from '../../lib/coalesce.ts'
import type { Semaphore } from '../../lib/semaphore.ts'
import { makeRoom } from './table-files.ts'
import type { Sheet, TableJob } from './table-job.ts'

const ENTRY = new URL('./table-process.ts', import.meta.url)
const INDEXING = { heapMegabytes: 512, deadlineMs: 120_000 }

/** A table in the database file that it was converted to. */
interface StoredSheet extends Pick<Sheet, 'table' | 'rows' | 'columns'> {
  file: string
}

interface TableIndexes {
  /** The file with the table's rows and an index for each column, made when first asked for. Throws `JobRefusal`. */
  get(sheet: StoredSheet, signal: AbortSignal): Promise<string>
  close(): void
}

interface Dependencies {
  directory: string
  semaphore: Semaphore
}

export function createTableIndexes({ directory, semaphore }: Dependencies): TableIndexes {
  const stopping = new AbortController()
  const share = createSharedWork<string>()

  async function make({ file, table, rows, columns }: StoredSheet, made: string): Promise<string> {
    if (await isThere(made)) return made
    const work = `${made}.work`
    const { signal } = stopping
    try {
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { mode: 0o700 })
      const target = join(work, 'rows')
      const job: TableJob = { kind: 'index', source: file, target, table, rows, columns }
      const options = { ...INDEXING, directory: work }
      await semaphore.run(() => runJob(ENTRY, job, options, signal), signal)
      await makeRoom(directory)
      await rename(target, made)
      return made
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }

  return {
    get(sheet, signal) {
      const made = sheet.file.replace(/\.duckdb$/, `.${sheet.table}.sqlite`)
      return share(made, () => make(sheet, made), signal)
    },
    close: () => stopping.abort(new Error('The server stops')),
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    // Not made yet, or it had to make room.
    return false
  }
}
