import type { StoredSource } from '../source-store.ts'
import type { Clock } from './clock.ts'
import { sourceColumns } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Tx, text } from './query.ts'

/**
 * Later than this in the future, a fetch was noted by the database's clock when it was ahead. Less is a server's own
 * clock that differs: what it fetches would be due again at once.
 */
const AHEAD_MS = 3_600_000
/** More than the pause after a fetch is not waited for. */
const SLACK_MS = 60_000

/** Where documents were fetched from. */
export function createSourceWrites(dialect: Dialect, clock: Clock) {
  const DUE = `SELECT document FROM sources WHERE fetch_at <= now_ms()
    ORDER BY fetch_at LIMIT $1 ${dialect.locking('SKIP LOCKED')}`
  const SET_RIGHT = `UPDATE sources SET fetch_at = now_ms()
    WHERE fetch_at > now_ms() + $1 AND ${dialect.fetchedAt} > now_ms() + ${AHEAD_MS}`
  const TAKE = 'UPDATE sources SET fetch_at = now_ms() + $2 WHERE document = $1'
  const NOTE = `UPDATE sources SET source = $1, fetch_at = $2
    WHERE document = (SELECT number FROM documents WHERE id = $3 AND revision = $4)`

  return {
    async takeSources(tx: Tx, limit: number, milliseconds: number): Promise<string[]> {
      if (!(await clock.isTrusted(tx))) await tx.run(SET_RIGHT, [milliseconds + SLACK_MS])
      const due = (await tx.all(DUE, [limit])).map((row) => integer(row, 'document'))
      await Promise.all(due.map((document) => tx.run(TAKE, [document, milliseconds])))
      const ids = due.map((document) =>
        tx.one('SELECT id FROM documents WHERE number = $1', [document]),
      )
      return (await Promise.all(ids)).map((row) => text(row, 'id'))
    },

    async noteSource(tx: Tx, id: string, revision: number, source: StoredSource): Promise<void> {
      const { source: json, fetch_at } = sourceColumns(source)
      await tx.run(NOTE, [json, fetch_at, id, revision])
    },
  }
}
