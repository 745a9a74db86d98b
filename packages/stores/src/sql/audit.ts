import type { AuditEntry, AuditQuery, AuditStore, NewAuditEntry } from '../audit-store.ts'
import type { Clock } from './clock.ts'
import { type Columns, insertInto, json, plain, readAll, unchecked, writeAll } from './columns.ts'
import { integer, optionalInteger, optionalText, type Read, type Tx, text } from './query.ts'

const ENTRY: Columns<NewAuditEntry> = {
  at: plain('at', integer),
  who: plain('who', text),
  address: plain('address', optionalText),
  action: plain('action', text),
  status: plain('status', optionalInteger),
  targets: json('targets', unchecked<NewAuditEntry['targets']>, {}),
}

const CONDITIONS = {
  who: 'who = ?',
  action: 'action = ?',
  // In JSON, quotes begin and end a text alone, and case counts.
  target: "replace(targets, ?, '') <> targets",
  since: 'at >= ?',
  until: 'at < ?',
  before: 'number < ?',
} as const
const LONG_MS = 30_000

export function createAuditReads(read: Read): Pick<AuditStore, 'list'> {
  return {
    async list(query) {
      const { unprepared, values } = entriesOf(query)
      const rows = await read({ unprepared }, values, LONG_MS)
      return rows.map(
        (row): AuditEntry => ({ ...readAll(ENTRY, row), number: integer(row, 'number') }),
      )
    },
  }
}

/** Only the conditions of the query: an index serves none that may be absent. */
export function entriesOf({ limit, target, reader: _, ...rest }: AuditQuery) {
  const filter = { ...rest, target: target === undefined ? undefined : JSON.stringify(target) }
  const values: (string | number)[] = []
  const parameter = (value: string | number) => `$${values.push(value)}`
  const conditions = Object.entries(CONDITIONS).flatMap(([name, sql]) => {
    const value = filter[name as keyof typeof CONDITIONS]
    return value === undefined ? [] : [sql.replace('?', parameter(value))]
  })
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const unprepared = `SELECT * FROM audit ${where} ORDER BY number DESC LIMIT ${parameter(limit)}`
  return { unprepared, values }
}

export function createAuditWrites(clock: Clock) {
  return {
    async appendAudit(tx: Tx, entries: readonly NewAuditEntry[]): Promise<void> {
      await Promise.all(entries.map((entry) => insertInto(tx, 'audit', writeAll(ENTRY, entry))))
    },

    async removeOldAudit(tx: Tx, before: number, most: number): Promise<void> {
      await tx.run('DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - $1', [most])
      // Only by a clock that can be believed.
      if (await clock.isTrusted(tx)) await tx.run('DELETE FROM audit WHERE at < $1', [before])
    },
  }
}
