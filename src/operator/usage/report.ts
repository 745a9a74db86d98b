import type { Owner } from '@agent-server/lib/limiter.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { OwnUsage, UsageQuery, UsageReport } from '@agent-server/schemas/operator/usage.ts'
import {
  type Amounts,
  type OwnerLimits,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageStore,
  type UsageSum,
} from '@agent-server/stores'
import type { AgentConfiguration } from '../../agent/configuration.ts'
import { NO_AMOUNTS, ownersOf, type UsageLedger } from './ledger.ts'
import { DAY_MS, type Limits } from './limits.ts'

/** How many days are shown if none are named. */
const DAYS = 30
const MAX_ROWS = 10_000

interface Dependencies {
  store: Pick<UsageStore, 'sum' | 'used'>
  ledger: Pick<UsageLedger, 'flush' | 'today'>
  limits: Limits
  prices: () => AgentConfiguration['prices']
}

/** Tells what was used by whom, and each what is theirs. */
export class UsageReports {
  readonly #parts: Dependencies

  constructor(parts: Dependencies) {
    this.#parts = parts
  }

  async report(query: UsageQuery, reader: Owner): Promise<UsageReport> {
    const { rows, range } = await this.#sums(query, reader)
    const [total = NO_AMOUNTS] = await this.#parts.store.sum({ ...range, by: [], limit: 1 })
    return {
      currency: this.#parts.prices().currency,
      rows: rows.slice(0, query.limit).map(toRow),
      hasMore: rows.length > query.limit,
      total: toAmounts(total),
    }
  }

  /** The same as comma-separated values, with all rows. Throws `invalid_request` if they are too many. */
  async csv(query: Omit<UsageQuery, 'limit'>, reader: Owner): Promise<string> {
    const { dimensions, rows } = await this.#sums({ ...query, limit: MAX_ROWS }, reader)
    if (rows.length > MAX_ROWS) {
      throw refusal('since', 'has more than 10,000 rows: ask for fewer days')
    }
    return toCsv(dimensions, rows, this.#parts.prices().currency)
  }

  /** What a caller has used, and has left for today. */
  async own(caller: Caller): Promise<OwnUsage> {
    const { store, ledger, limits, prices } = this.#parts
    const { person, key } = ownersOf(caller)
    const [since, until] = [ledger.today() - DAYS + 1, ledger.today()]
    const range = { since, until, reader: shareOf(caller) }
    // A program that speaks for somebody shows them what is theirs; a key, all that its limit counts.
    const ofKey = key === '' ? { person, key } : { key }
    const whose = person === '' ? ofKey : { person }
    await ledger.flush()
    const days = await store.sum({ ...range, ...whose, by: ['day'], limit: DAYS })
    const today = days.find(({ day }) => day === ledger.today()) ?? NO_AMOUNTS
    return {
      currency: prices().currency,
      limits: await Promise.all((await limits(caller)).map((owned) => this.#left(owned))),
      today: toAmounts(today),
      days: days.map(toRow),
    }
  }

  async #sums({ by, since, until, limit, ...filters }: UsageQuery, reader: Owner) {
    const { store, ledger } = this.#parts
    const last = until === undefined ? ledger.today() : dayOf(until)
    const first = since === undefined ? last - DAYS + 1 : dayOf(since)
    if (first > last) throw refusal('since', 'must not be after until')
    const dimensions = USAGE_DIMENSIONS.filter((each) => by.split(',').includes(each))
    await ledger.flush()
    const range = { ...filters, since: first, until: last, reader }
    const rows = await store.sum({ ...range, by: dimensions, limit: limit + 1 })
    return { dimensions, rows, range }
  }

  async #left(owned: OwnerLimits): Promise<OwnUsage['limits'][number]> {
    const { store, ledger } = this.#parts
    const { kind, id, tokensPerDay, costPerDay } = owned
    const used = await store.used(owned, ledger.today(), Date.now())
    const left = (most: number, amount: number, held: number) => Math.max(0, most - amount - held)
    return {
      of: kind,
      id,
      ...(tokensPerDay !== undefined && {
        tokensPerDay,
        tokensLeft: left(tokensPerDay, used.tokens, used.heldTokens),
      }),
      ...(costPerDay !== undefined && {
        costPerDay,
        costLeft: left(costPerDay, used.cost, used.heldCost),
      }),
    }
  }
}

const dayOf = (date: string) => Math.floor(Date.parse(date) / DAY_MS)
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

function toAmounts({ cost, unpricedCalls, ...amounts }: Amounts): UsageReport['total'] {
  const { calls, inputTokens, cachedTokens, outputTokens } = amounts
  return {
    calls,
    inputTokens,
    cachedTokens,
    outputTokens,
    ...(unpricedCalls < calls && { cost }),
    ...(unpricedCalls > 0 && { unpricedCalls }),
  }
}

function toRow({
  day,
  person,
  group,
  key,
  agent,
  model,
  personName,
  keyName,
  ...amounts
}: UsageSum) {
  const named = { person, personName, group, key, keyName, agent, model }
  const known = Object.entries(named).filter(([, value]) => value !== undefined && value !== '')
  return {
    ...(day !== undefined && { day: dateOf(day) }),
    ...Object.fromEntries(known),
    ...toAmounts(amounts),
  }
}

const NAMES: Partial<Record<UsageDimension, string>> = { person: 'personName', key: 'keyName' }

function toCsv(by: readonly UsageDimension[], sums: readonly UsageSum[], currency: string): string {
  const columns = [
    ...by.flatMap((each) => [each, NAMES[each] ?? []].flat()),
    ...Object.keys(NO_AMOUNTS),
  ]
  const heads = columns.map((name) => (name === 'cost' ? `cost (${currency})` : name))
  const lines = sums.map((sum) => {
    const row: Record<string, unknown> = toRow(sum)
    return columns.map((name) => toCell(row[name]))
  })
  return [heads, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

/** A cell that no spreadsheet takes for a formula. */
function toCell(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
