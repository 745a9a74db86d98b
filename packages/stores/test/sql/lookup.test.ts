import { DatabaseSync } from 'node:sqlite'
import { everything } from '@agent-server/lib/visibility.ts'
import { expect, it } from 'vitest'
import { isTable } from '../../src/sql/lookup.ts'
import { visibleTo } from '../../src/sql/visible.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { migrate } from '../../src/sqlite/migrate.ts'

it('the tables among many documents are found through an index', () => {
  const database = new DatabaseSync(':memory:')
  migrate(database)
  const plan = database
    .prepare(
      `EXPLAIN QUERY PLAN SELECT * FROM documents
       WHERE served_revision IS NOT NULL AND ${isTable(SQLITE)} AND number < 9 ORDER BY number DESC`,
    )
    .all()
  expect(JSON.stringify(plan)).toContain('USING INDEX documents_tables')
  database.close()
})

it.each([
  [{ field: 'a', gte: 1, lt: 2 }],
  [{ field: 'a', eq: 'b' }],
  [{ field: 'a', in: ['b', 'c', 1] }],
])('values are looked up, not scanned: %j', (filter) => {
  const database = new DatabaseSync(':memory:')
  migrate(database)
  const sql = `SELECT number FROM documents WHERE ${visibleTo(SQLITE, everything(), { filter }).sql}`
  const plan = JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
  expect(plan).toMatch(/USING (COVERING )?INDEX metadata_(numbers|strings)/)
  expect(plan).not.toContain('SCAN metadata')
  database.close()
})
