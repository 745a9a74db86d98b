import type { Owner } from '@agent-server/lib/limiter.ts'

/** For whom a call of a model counts; empty where there is nobody. */
export interface UsageOwners {
  /** `user:<id>` */
  person: string
  key: string
  /** The key that let a program in, if that has a key of its own. */
  payer: string
  groups: readonly string[]
}

/** Tokens, and what they cost in the currency of the prices. */
export interface Amounts {
  calls: number
  inputTokens: number
  /** Tokens of the input that the model's server read from its cache. */
  cachedTokens: number
  outputTokens: number
  cost: number
  /** Calls of models without a price, which `cost` leaves out. */
  unpricedCalls: number
}

export interface UsageEntry extends UsageOwners, Amounts {
  /** Since the epoch, in UTC. */
  day: number
  /** Empty for work outside of an agent. */
  agent: string
  model: string
}

/** What one owner may use in a day. */
export interface DayLimits {
  tokensPerDay?: number | undefined
  costPerDay?: number | undefined
}

export interface OwnerLimits extends DayLimits {
  kind: 'person' | 'key' | 'group'
  id: string
}

/** What an owner has used on a day, and what calls under way may use. */
export interface Used {
  tokens: number
  cost: number
  heldTokens: number
  heldCost: number
}

/** Which limit keeps a call from beginning. */
export interface Refusal {
  limits: OwnerLimits
  limit: keyof DayLimits
  /** Whether calls under way hold what is left: it may be free again soon. */
  isHeld: boolean
}

export const USAGE_DIMENSIONS = ['day', 'person', 'group', 'key', 'agent', 'model'] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

export interface UsageQuery {
  by: readonly UsageDimension[]
  /** Days, both included. */
  since: number
  until: number
  person?: string | undefined
  group?: string | undefined
  key?: string | undefined
  agent?: string | undefined
  model?: string | undefined
  limit: number
  /** Whose turn it takes. */
  reader?: Owner
}

/** A sum, with the value of each dimension in `by`. */
export interface UsageSum extends Amounts, Partial<Record<Exclude<UsageDimension, 'day'>, string>> {
  day?: number
  personName?: string | undefined
  keyName?: string | undefined
}

/** The reservation of a call until it ends, or until `expiresAt`. */
export interface Hold {
  id: string
  expiresAt: number
}

/** The one ledger of what models have cost, shared by all servers on the store. */
export interface UsageStore {
  used(owner: Pick<OwnerLimits, 'kind' | 'id'>, day: number, now: number): Promise<Used>
  /** Writes down what a call may use, unless a limit forbids it: at all servers together, one call may exceed it. */
  hold(
    entry: UsageEntry,
    hold: Hold,
    limits: readonly OwnerLimits[],
    now: number,
  ): Promise<Refusal | undefined>
  /** Adds what calls have used, in place of what was held for them. */
  add(entries: readonly (UsageEntry & { hold?: string | undefined })[]): Promise<void>
  /** The largest first, or the latest day. */
  sum(query: UsageQuery): Promise<UsageSum[]>
  /** The tokens of each key, with what it has paid for. */
  tokensOfKeys(day: number): Promise<ReadonlyMap<string, number>>
  /** Removes what is older than this day, and what was held for longer than it may. */
  removeBefore(day: number, now: number): Promise<void>
}

/** Why a call that may use this much may not begin, first of what is used up. One that goes alone may exceed a limit. */
export function refusalOf(
  limits: OwnerLimits,
  used: Used,
  amount: { tokens: number; cost: number },
): Refusal | undefined {
  const { tokensPerDay, costPerDay } = limits
  const measures = [
    { limit: 'tokensPerDay', most: tokensPerDay, used: used.tokens, held: used.heldTokens },
    { limit: 'costPerDay', most: costPerDay, used: used.cost, held: used.heldCost },
  ] as const
  const spent = measures.find(({ most, used }) => most !== undefined && used >= most)
  if (spent) return { limits, limit: spent.limit, isHeld: false }
  const held = measures.find(({ limit, most, used, held }) => {
    const more = limit === 'tokensPerDay' ? amount.tokens : amount.cost
    return most !== undefined && held > 0 && used + held + more > most
  })
  return held && { limits, limit: held.limit, isHeld: true }
}
