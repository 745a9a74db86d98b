import { randomUUID } from 'node:crypto'
import type { OutboxEvent } from '../outbox.ts'
import { type Clock, isDue } from './clock.ts'
import { toFailure } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Row, type Tx, text } from './query.ts'

/** As long as events are retried, so that none is missed while all servers that want them are down. */
const WANTED_MS = 3 * 24 * 3_600_000

/** Nothing that was not accepted waits longer for the next time. */
const LONGEST_WAIT_MS = 2 * 24 * 3_600_000

/** Whether any server wants events. */
export const IS_ANNOUNCING = 'EXISTS (SELECT 1 FROM announcers WHERE until > now_ms())'

const ANNOUNCE = `INSERT INTO announcements
    (document, id, revision, status, error_code, error_message, ended_at, due_at)
  SELECT number, $2, revision, status, error_code, error_message, updated_at, updated_at
  FROM documents
  WHERE number = $1 AND ${IS_ANNOUNCING}
  ON CONFLICT (document) DO UPDATE SET id = excluded.id, revision = excluded.revision,
    status = excluded.status, error_code = excluded.error_code,
    error_message = excluded.error_message, ended_at = excluded.ended_at, attempts = 0,
    due_at = excluded.due_at`

/** Records the event of a document that has just become ready or failed, if any server wants events. */
export async function announce(tx: Tx, document: number): Promise<void> {
  await tx.run(ANNOUNCE, [document, `msg_${randomUUID().replaceAll('-', '')}`])
}

const FORGET_OLD = 'DELETE FROM announcers WHERE until <= now_ms()'
const WANT = `INSERT INTO announcers (owner, until) VALUES ($1, now_ms() + $2)
  ON CONFLICT (owner) DO UPDATE SET until = excluded.until`
const DROP_UNWANTED = 'DELETE FROM announcements WHERE NOT EXISTS (SELECT 1 FROM announcers)'
const TAKE =
  'UPDATE announcements SET attempts = attempts + 1, due_at = now_ms() + $2 WHERE document = $1'
const TAKEN = `SELECT announcements.*, documents.id AS document_id
  FROM announcements JOIN documents ON number = document WHERE document = $1`

/** The events of the outbox. Servers that take events concurrently get different ones. */
export function createOutboxWrites(dialect: Dialect, clock: Clock) {
  const DUE = `SELECT document FROM announcements WHERE ${isDue('due_at', LONGEST_WAIT_MS)}
    ORDER BY due_at, document LIMIT $1 ${dialect.locking('SKIP LOCKED')}`

  return {
    async enableOutbox(tx: Tx, owner: string, isEnabled: boolean): Promise<void> {
      if (await clock.isTrusted(tx)) await tx.run(FORGET_OLD)
      if (isEnabled) await tx.run(WANT, [owner, WANTED_MS])
      else {
        await tx.run('DELETE FROM announcers WHERE owner = $1', [owner])
        await tx.run(DROP_UNWANTED)
      }
    },

    async takeEvents(tx: Tx, limit: number, milliseconds: number): Promise<OutboxEvent[]> {
      const due = await tx.all(DUE, [Math.max(0, limit)])
      const documents = due.map((row) => integer(row, 'document'))
      await Promise.all(documents.map((document) => tx.run(TAKE, [document, milliseconds])))
      const rows = await Promise.all(documents.map((document) => tx.one(TAKEN, [document])))
      return rows.flatMap((row) => (row ? [toEvent(row)] : []))
    },

    async postponeEvent(tx: Tx, id: string, dueAt: number): Promise<void> {
      await tx.run('UPDATE announcements SET due_at = $1 WHERE id = $2', [dueAt, id])
    },

    async removeEvent(tx: Tx, id: string): Promise<void> {
      await tx.run('DELETE FROM announcements WHERE id = $1', [id])
    },
  }
}

function toEvent(row: Row): OutboxEvent {
  return {
    id: text(row, 'id'),
    documentId: text(row, 'document_id'),
    revision: integer(row, 'revision'),
    status: text(row, 'status') === 'ready' ? 'ready' : 'failed',
    error: toFailure(row),
    endedAt: integer(row, 'ended_at'),
    attempt: integer(row, 'attempts'),
  }
}
