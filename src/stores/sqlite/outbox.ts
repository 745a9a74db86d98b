import type { SQLTagStore } from 'node:sqlite'
import type { OutboxEvent } from '../outbox.ts'
import { integer, toOutboxEvent } from '../sql/rows.ts'

/** The events of the outbox, which a trigger writes down. Each write runs inside a transaction of the caller's. */
export function createOutboxWrites(sql: SQLTagStore) {
  return {
    enable(isEnabled: boolean): void {
      sql.run`UPDATE meta SET value = ${isEnabled ? 1 : 0} WHERE name = 'announcing'`
      if (!isEnabled) sql.run`DELETE FROM announcements`
    },

    takeEvents(limit: number, milliseconds: number): OutboxEvent[] {
      const now = Date.now()
      const due = sql.all`
        SELECT announcements.*, documents.id AS document_id
        FROM announcements JOIN documents ON number = document
        WHERE due_at <= ${now} ORDER BY due_at LIMIT ${Math.max(0, limit)}`
      for (const row of due) {
        sql.run`
          UPDATE announcements SET attempts = attempts + 1, due_at = ${now + milliseconds}
          WHERE document = ${integer(row, 'document')}`
      }
      return due.map((row) => toOutboxEvent({ ...row, attempts: integer(row, 'attempts') + 1 }))
    },

    postponeEvent(id: string, dueAt: number): void {
      sql.run`UPDATE announcements SET due_at = ${dueAt} WHERE id = ${id}`
    },

    removeEvent(id: string): void {
      sql.run`DELETE FROM announcements WHERE id = ${id}`
    },
  }
}
