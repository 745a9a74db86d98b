import { afterAll, expect, it } from 'vitest'
import { entriesOf } from '../../src/sql/audit.ts'
import { REMOVE_OF, TOO_MANY } from '../../src/sql/people.ts'
import { DROP_GROUPS, DROP_HOLD, USED } from '../../src/sql/usage.ts'
import { createSqliteData } from './store-data.ts'

const data = await createSqliteData()
await (await data.open()).close()
afterAll(() => data.remove())

function planOf(statement: string): string {
  using database = data.database()
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
  return steps.map(({ detail }) => String(detail)).join('; ')
}

it.each([
  [{}, 'SCAN audit'],
  [{ before: 9 }, 'INTEGER PRIMARY KEY (rowid<?)'],
  [{ who: 'master', before: 9 }, 'audit_of_who (who=? AND number<?)'],
  [{ action: 'read', before: 9 }, 'audit_of_action (action=? AND number<?)'],
])('A page of the audit log with %j is read in order, from where it begins', (query, index) => {
  const plan = planOf(entriesOf({ limit: 9, ...query }).unprepared)
  expect(plan).toContain(index)
  expect(plan).not.toContain('TEMP B-TREE')
})

it.each([
  ['are too many', TOO_MANY, ['sessions_by_use']],
  ['the issuer has ended', REMOVE_OF, ['sessions_of_issuer', 'sessions_of_subject']],
])('Sessions that %s are found by an index', (_case, statement, indexes) => {
  const plan = planOf(statement)
  for (const index of indexes) expect(plan).toContain(index)
  expect(plan).not.toContain('TEMP B-TREE')
})

it.each([
  ['of a person', USED.person, ['(day=? AND person=?)']],
  ['of a key', USED.key, ['usage_of_key (day=? AND key=?)', 'usage_of_payer (day=? AND payer=?)']],
  ['of a group', USED.group, ['usage_of_groups (groups=? AND day=?)']],
  ['held for a call', DROP_HOLD, ['held_usage (hold=?)']],
  ['of groups that nobody is in any more', DROP_GROUPS, ['usage_of_groups (groups=?)']],
])('What is %s is found by an index', (_whose, statement, indexes) => {
  const plan = planOf(statement)
  for (const index of indexes) expect(plan).toContain(index)
  expect(plan).not.toContain('SCAN model_usage')
})
