import type { Outbox } from '../outbox.ts'
import { toOutboxEvent } from '../sql/rows.ts'
import type { Database } from './database.ts'

/** As long as events are retried, so that none is missed while all servers that want them are down. */
const WANTED_MS = 3 * 24 * 3_600_000

const WANT = 'SELECT agent_server.want_announcements($1, $2)'
const WANT_NONE = 'SELECT agent_server.want_no_announcements($1)'
const TAKE = `WITH due AS (
    SELECT document, due_at FROM agent_server.announcements WHERE due_at <= agent_server.now_ms()
    ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE agent_server.announcements AS event
    SET attempts = attempts + 1, due_at = agent_server.now_ms() + $2
    FROM due WHERE event.document = due.document
    RETURNING event.*, due.due_at AS was_due_at
  )
  SELECT taken.*, documents.id AS document_id
  FROM taken JOIN agent_server.documents ON number = document ORDER BY was_due_at, document`
const PUT_OFF = 'UPDATE agent_server.announcements SET due_at = $2 WHERE id = $1'
const DROP = 'DELETE FROM agent_server.announcements WHERE id = $1'

/** A trigger records events while any server wants them. Servers that take events concurrently get different ones. */
export function createOutbox(database: Database, owner: string): Outbox {
  return {
    async enable(isEnabled) {
      if (isEnabled) await database.write(WANT, [owner, WANTED_MS])
      else await database.write(WANT_NONE, [owner])
    },
    async takeEvents(limit, milliseconds) {
      const rows = await database.write(TAKE, [Math.max(0, limit), milliseconds])
      return rows.map(toOutboxEvent)
    },
    async postponeEvent(id, dueAt) {
      await database.write(PUT_OFF, [id, dueAt])
    },
    async removeEvent(id) {
      await database.write(DROP, [id])
    },
  }
}
