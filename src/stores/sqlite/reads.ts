import type { DatabaseSync } from 'node:sqlite'
import { integer, type Row, text } from '../columns.ts'
import type { DocumentStore, StoreCounts } from '../document-store.ts'
import { decodeCursor, encodeCursor } from '../list-cursor.ts'
import { toDocument } from '../rows.ts'
import { createChunkReads } from './chunk-reads.ts'
import { toStoreError } from './sqlite-error.ts'

const LONGEST_PAGE = 1_000

const PAGE = 'SELECT * FROM documents WHERE number < ? ORDER BY number DESC LIMIT ?'
const PAGE_OF_STATUS =
  'SELECT * FROM documents WHERE status = ? AND number < ? ORDER BY number DESC LIMIT ?'

const NEXT_JOB = 'SELECT run_at FROM jobs WHERE claim IS NULL ORDER BY run_at LIMIT 1'

type Reads = Pick<
  DocumentStore,
  | 'get'
  | 'hasKey'
  | 'list'
  | 'readChunks'
  | 'chunkKeys'
  | 'listChunks'
  | 'identity'
  | 'counts'
  | 'nextJobAt'
> & {
  /** The number of the last check that was written. */
  lastCheck(): Promise<number>
}

/** What is asked of the database. Each query is one statement, and so sees one moment; `refuse` throws while none may run. */
export function createReads(database: DatabaseSync, refuse: () => void): Reads {
  const selectDocument = database.prepare('SELECT * FROM documents WHERE id = ?')
  const selectKey = database.prepare('SELECT 1 FROM idempotency_keys WHERE key = ?')
  const selectPage = database.prepare(PAGE)
  const selectPageOfStatus = database.prepare(PAGE_OF_STATUS)
  const selectCounts = database.prepare('SELECT name, value FROM counts')
  const selectNextJob = database.prepare(NEXT_JOB)
  const selectIdentity = database.prepare("SELECT value FROM meta WHERE name = 'identity'")
  const selectLastCheck = database.prepare("SELECT value FROM meta WHERE name = 'last_check'")

  const read = async <T>(query: () => T): Promise<T> => {
    refuse()
    try {
      return query()
    } catch (error) {
      throw toStoreError(error)
    }
  }
  return {
    get: (id) =>
      read(() => {
        const row = selectDocument.get(id)
        return row && toDocument(row)
      }),

    hasKey: (key) => read(() => selectKey.get(key) !== undefined),

    list: ({ limit, cursor, status }) =>
      read(() => {
        const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
        const length = Math.max(0, Math.min(limit, LONGEST_PAGE))
        const rows =
          status === undefined
            ? selectPage.all(before, length + 1)
            : selectPageOfStatus.all(status, before, length + 1)
        const shown = rows.slice(0, length)
        const nextCursor = rows.length > length ? cursorAfter(shown.at(-1)) : undefined
        return { documents: shown.map(toDocument), nextCursor }
      }),

    ...createChunkReads(database, read),

    identity: () => read(() => String(integer(selectIdentity.get(), 'value'))),

    counts: () => read(() => toCounts(selectCounts.all())),

    nextJobAt: () =>
      read(() => {
        const row = selectNextJob.get()
        return row && integer(row, 'run_at')
      }),

    lastCheck: () => read(() => integer(selectLastCheck.get(), 'value')),
  }
}

function cursorAfter(row: Row | undefined): string {
  return encodeCursor(integer(row, 'number'))
}

function toCounts(rows: readonly Row[]): StoreCounts {
  const values = new Map(rows.map((row) => [text(row, 'name'), integer(row, 'value')]))
  const count = (name: string) => values.get(name) ?? 0
  return {
    documents: {
      pending: count('pending'),
      processing: count('processing'),
      ready: count('ready'),
      failed: count('failed'),
    },
    chunks: count('chunks'),
    jobs: count('jobs'),
  }
}
