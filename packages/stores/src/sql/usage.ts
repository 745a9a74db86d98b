import { hash } from 'node:crypto'
import {
  type Amounts,
  type Hold,
  type OwnerLimits,
  type Refusal,
  refusalOf,
  type UsageDimension,
  type UsageEntry,
  type UsageStore,
  type UsageSum,
  type Used,
} from '../usage-store.ts'
import type { Clock } from './clock.ts'
import { type Columns, insertInto, money, moneyOf, plain, readAll, writeAll } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, optionalText, type Read, type Row, type Tx, text, type Value } from './query.ts'

const AMOUNTS: Columns<Amounts> = {
  calls: plain('calls', integer),
  inputTokens: plain('input_tokens', integer),
  cachedTokens: plain('cached_tokens', integer),
  outputTokens: plain('output_tokens', integer),
  cost: money('cost'),
  unpricedCalls: plain('unpriced_calls', integer),
}
const AMOUNT_NAMES = Object.values(AMOUNTS).map(({ name }) => name)

/** What is somebody's on a day, so that an index finds it. */
const OWNED = {
  person: 'day = $1 AND person = $3',
  key: `number IN (SELECT number FROM model_usage WHERE day = $1 AND key = $3
    UNION ALL SELECT number FROM model_usage WHERE day = $1 AND payer = $3 AND payer <> '')`,
  group: 'day = $1 AND groups IN (SELECT groups FROM usage_groups WHERE name = $3)',
}
/** A sum of money may be larger than an integer that JavaScript reads. */
const sumOf = (what: string, name: string) =>
  `CAST(COALESCE(SUM(${what}), 0) AS ${name.endsWith('cost') ? 'double precision' : 'bigint'}) AS ${name}`
const sumIf = (condition: string, what: string, name: string) =>
  sumOf(`CASE WHEN ${condition} THEN ${what} END`, name)
const usedBy = (condition: string) => `SELECT
    ${sumIf(`hold = ''`, 'input_tokens + output_tokens', 'tokens')},
    ${sumIf(`hold = ''`, 'cost', 'cost')},
    ${sumIf(`hold <> ''`, 'input_tokens + output_tokens', 'held_tokens')},
    ${sumIf(`hold <> ''`, 'cost', 'held_cost')}
  FROM model_usage WHERE (hold = '' OR expires_at > $2) AND ${condition}`
export const USED = {
  person: usedBy(OWNED.person),
  key: usedBy(OWNED.key),
  group: usedBy(OWNED.group),
}

const toUsed = (row: Row | undefined): Used => ({
  tokens: integer(row, 'tokens'),
  cost: moneyOf(integer(row, 'cost')),
  heldTokens: integer(row, 'held_tokens'),
  heldCost: moneyOf(integer(row, 'held_cost')),
})

const TOKENS_OF_KEYS = `SELECT id, CAST(SUM(tokens) AS bigint) AS tokens FROM (
    SELECT key AS id, input_tokens + output_tokens AS tokens
    FROM model_usage WHERE day = $1 AND hold = '' AND key <> ''
    UNION ALL
    SELECT payer AS id, input_tokens + output_tokens AS tokens
    FROM model_usage WHERE day = $1 AND hold = '' AND payer <> ''
  ) AS paid GROUP BY id`

export function createUsageReads(read: Read): Pick<UsageStore, 'used' | 'sum' | 'tokensOfKeys'> {
  return {
    async used({ kind, id }, day, now) {
      const [row] = await read(USED[kind], [day, now, id])
      return toUsed(row)
    },
    async sum(query) {
      const { since, until, person, group, key, agent, model, limit } = query
      const values = [since, until, person, group, key, agent, model, limit]
      const rows = await read({ unprepared: sumsBy(query.by) }, values, LONG_MS)
      return rows.map((row) => toSum(query.by, row))
    },
    async tokensOfKeys(day) {
      const rows = await read(TOKENS_OF_KEYS, [day])
      return new Map(rows.map((row) => [text(row, 'id'), integer(row, 'tokens')]))
    },
  }
}

const LONG_MS = 30_000

/** What each dimension is in the query below. */
const DIMENSIONS: Record<UsageDimension, { value: string; join?: string; name?: string }> = {
  day: { value: 'u.day' },
  person: {
    value: 'u.person',
    join: 'LEFT JOIN people p ON p.id = u.person',
    name: 'MAX(p.name) AS person_name',
  },
  group: {
    value: `COALESCE(g.name, '')`,
    join: 'LEFT JOIN usage_groups g ON g.groups = u.groups',
  },
  key: {
    value: 'u.key',
    join: 'LEFT JOIN api_keys k ON k.id = u.key',
    name: 'MAX(k.name) AS key_name',
  },
  agent: { value: 'u.agent' },
  model: { value: 'u.model' },
}

function sumsBy(by: readonly UsageDimension[]): string {
  const chosen = by.map((dimension) => ({ dimension, ...DIMENSIONS[dimension] }))
  const columns = [
    ...chosen.map(({ value, dimension }) => `${value} AS by_${dimension}`),
    ...chosen.flatMap(({ name = [] }) => name),
    ...AMOUNT_NAMES.map((name) => sumOf(`u.${name}`, name)),
  ]
  const values = chosen.map(({ value }) => value)
  const order = [
    ...(by.includes('day') ? ['u.day DESC'] : []),
    'SUM(u.input_tokens + u.output_tokens) DESC',
    ...values,
  ]
  return `SELECT ${columns.join(', ')}
    FROM model_usage u ${chosen.map(({ join = '' }) => join).join(' ')}
    WHERE u.hold = '' AND u.day >= $1 AND u.day <= $2
      AND (CAST($3 AS text) IS NULL OR u.person = $3)
      AND (CAST($4 AS text) IS NULL OR u.groups IN (SELECT groups FROM usage_groups WHERE name = $4))
      AND (CAST($5 AS text) IS NULL OR u.key = $5 OR u.payer = $5 AND u.payer <> '')
      AND (CAST($6 AS text) IS NULL OR u.agent = $6)
      AND (CAST($7 AS text) IS NULL OR u.model = $7)
    ${values.length > 0 ? `GROUP BY ${values.join(', ')}` : ''}
    ORDER BY ${order.join(', ')} LIMIT $8`
}

function toSum(by: readonly UsageDimension[], row: Row): UsageSum {
  const sum: UsageSum = readAll(AMOUNTS, row)
  for (const dimension of by) {
    if (dimension === 'day') sum.day = integer(row, 'by_day')
    else sum[dimension] = text(row, `by_${dimension}`)
  }
  if (by.includes('person')) sum.personName = optionalText(row, 'person_name')
  if (by.includes('key')) sum.keyName = optionalText(row, 'key_name')
  return sum
}

const IDENTITY = 'day, person, key, payer, groups, agent, model, hold'
const MORE = AMOUNT_NAMES.map((name) => `${name} = model_usage.${name} + excluded.${name}`)
const ADD = `ON CONFLICT (${IDENTITY}) DO UPDATE SET ${MORE.join(', ')}`
// Whom it was is forgotten, what it cost is not.
const WITHOUT_PERSON = `INSERT INTO model_usage (${IDENTITY}, expires_at, ${AMOUNT_NAMES.join(', ')})
  SELECT day, 'removed', key, payer, '', agent, model, '', 0,
    ${AMOUNT_NAMES.map((name) => `CAST(SUM(${name}) AS bigint)`).join(', ')}
  FROM model_usage WHERE person = $1 AND hold = ''
  GROUP BY day, key, payer, agent, model ${ADD}`
/** Whoever was removed meanwhile does not come back by what is stored late. */
export const PERSON_EXISTS = 'SELECT 1 AS one FROM people WHERE id = $1'
export const DROP_HOLD = `DELETE FROM model_usage WHERE hold = $1 AND hold <> ''`
export const DROP_GROUPS = `DELETE FROM usage_groups WHERE NOT EXISTS (
  SELECT 1 FROM model_usage u WHERE u.groups = usage_groups.groups)`

/** Leaves of a person's usage what it cost, as that of nobody in particular. */
export async function forgetUsageOf(tx: Tx, dialect: Dialect, person: string): Promise<void> {
  await dialect.exclude(tx, 'usage')
  await tx.run(WITHOUT_PERSON, [person])
  await tx.run('DELETE FROM model_usage WHERE person = $1', [person])
  await tx.run(DROP_GROUPS)
}

export function createUsageWrites(dialect: Dialect, clock: Clock) {
  return {
    async holdUsage(
      tx: Tx,
      entry: UsageEntry,
      { id, expiresAt }: Hold,
      limits: readonly OwnerLimits[],
      now: number,
    ): Promise<Refusal | undefined> {
      await dialect.exclude(tx, 'usage')
      const { inputTokens, outputTokens, cost, day } = entry
      let held: Refusal | undefined
      for (const limit of limits) {
        const used = toUsed(await tx.one(USED[limit.kind], [day, now, limit.id]))
        const refusal = refusalOf(limit, used, { tokens: inputTokens + outputTokens, cost })
        if (refusal && !refusal.isHeld) return refusal
        held ??= refusal
      }
      if (held) return held
      await addEntry(tx, entry, { hold: id, expires_at: expiresAt })
      return undefined
    },

    async addUsage(
      tx: Tx,
      entries: readonly (UsageEntry & { hold?: string | undefined })[],
    ): Promise<void> {
      await dialect.exclude(tx, 'usage')
      for (const { hold, ...entry } of entries) {
        if (hold !== undefined) await tx.run(DROP_HOLD, [hold])
        if (entry.calls > 0) await addEntry(tx, entry, { hold: '', expires_at: 0 })
      }
    },

    /** Only by a clock that can be believed. */
    async removeUsageBefore(tx: Tx, day: number, now: number): Promise<void> {
      if (!(await clock.isTrusted(tx))) return
      await dialect.exclude(tx, 'usage')
      await tx.run(`DELETE FROM model_usage WHERE day < $1 OR hold <> '' AND expires_at <= $2`, [
        day,
        now,
      ])
      await tx.run(DROP_GROUPS)
    },
  }
}

async function addEntry(
  tx: Tx,
  { day, person, key, payer, agent, model, groups, ...amounts }: UsageEntry,
  state: { hold: string; expires_at: number },
): Promise<void> {
  const isKnown = person === '' || (await tx.one(PERSON_EXISTS, [person])) !== undefined
  const who = isKnown
    ? { person, groups: await groupsIn(tx, groups) }
    : { person: 'removed', groups: '' }
  const owners = { day, key, payer, agent, model, ...who }
  const columns: Record<string, Value> = { ...owners, ...state, ...writeAll(AMOUNTS, amounts) }
  await insertInto(tx, 'model_usage', columns, ADD)
}

/** What names these groups together: most people are in the same ones each time. */
async function groupsIn(tx: Tx, groups: readonly string[]): Promise<string> {
  if (groups.length === 0) return ''
  const names = groups.toSorted()
  const id = hash('sha256', JSON.stringify(names), 'base64url')
  if (await tx.one('SELECT name FROM usage_groups WHERE groups = $1 LIMIT 1', [id])) return id
  for (const name of new Set(names)) await insertInto(tx, 'usage_groups', { groups: id, name })
  return id
}
