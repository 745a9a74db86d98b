import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { isTable } from '../../../src/stores/sql/lookup.ts'
import { SQLITE } from '../../../src/stores/sqlite/dialect.ts'
import { migrate } from '../../../src/stores/sqlite/migrate.ts'

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
  ['SELECT document FROM metadata WHERE name = ? AND kind = ? AND value >= ? AND value < ?'],
  ['SELECT document FROM metadata WHERE name = ? AND kind = ? AND value = ?'],
])('values are looked up, not scanned: %s', (sql) => {
  const database = new DatabaseSync(':memory:')
  migrate(database)
  const plan = JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
  expect(plan).toContain('USING PRIMARY KEY')
  expect(plan).not.toContain('SCAN')
  database.close()
})
