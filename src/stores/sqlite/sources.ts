import type { SQLTagStore } from 'node:sqlite'
import type { StoredSource } from '../source-store.ts'
import { integer, sourceToJson, text } from '../sql/rows.ts'

/** Where documents come from. Each write runs inside a transaction of the caller's. */
export function createSourceWrites(sql: SQLTagStore) {
  return {
    takeSources(limit: number, milliseconds: number): string[] {
      const now = Date.now()
      const due = sql.all`
        SELECT id, number FROM sources JOIN documents ON number = document
        WHERE fetch_at <= ${now} ORDER BY fetch_at LIMIT ${limit}`
      for (const row of due) {
        sql.run`
          UPDATE sources SET fetch_at = ${now + milliseconds}
          WHERE document = ${integer(row, 'number')}`
      }
      return due.map((row) => text(row, 'id'))
    },

    noteSource(id: string, revision: number, source: StoredSource): void {
      sql.run`
        UPDATE sources SET source = ${sourceToJson(source)}, fetch_at = ${source.dueAt ?? null}
        WHERE document = (SELECT number FROM documents WHERE id = ${id} AND revision = ${revision})`
    },
  }
}
