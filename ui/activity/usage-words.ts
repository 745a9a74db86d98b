import type { KnownPerson, OwnUsage, UsageReport } from '../../packages/client/src/agent-server.ts'
import { formatNumber } from '../format.ts'

export type DayLimits = {
  [Limit in 'tokensPerDay' | 'costPerDay']?: KnownPerson[Limit] | undefined
}

/** What `agent.json` has for people and groups. */
export interface Budgets {
  people?: DayLimits
  groups?: Record<string, DayLimits & { shared?: boolean }>
}

/** What counts for a person, as the server decides it: their own, else the most of their groups, else that of all. */
export function limitsOf(person: DayLimits & { groups: string[] }, budgets: Budgets): DayLimits {
  const { people = {}, groups = {} } = budgets
  const theirs = person.groups.flatMap((name) => {
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined
    return group && !group.shared ? [group] : []
  })
  const limit = (name: keyof DayLimits) => {
    const known = theirs.map((group) => group[name]).filter((most) => most !== undefined)
    return person[name] ?? (known.length > 0 ? Math.max(...known) : people[name])
  }
  return { tokensPerDay: limit('tokensPerDay'), costPerDay: limit('costPerDay') }
}

/** What was used today, beside what may be. */
export function todayWords(
  { tokens, cost }: { tokens: number; cost: number | undefined },
  { tokensPerDay, costPerDay }: DayLimits,
  currency: string,
): string {
  const parts = [
    tokensPerDay === undefined
      ? `${formatNumber(tokens)} tokens`
      : `${formatNumber(tokens)} of ${formatNumber(tokensPerDay)} tokens`,
    ...(costPerDay === undefined
      ? cost
        ? [formatCost(cost, currency)]
        : []
      : [`${formatCost(cost ?? 0, currency)} of ${formatCost(costPerDay, currency)}`]),
  ]
  return `${parts.join(' and ')} today`
}

/** The limits themselves; empty where there are none. */
export function limitWords({ tokensPerDay, costPerDay }: DayLimits, currency: string): string {
  return [
    ...(tokensPerDay === undefined ? [] : [`${formatNumber(tokensPerDay)} tokens`]),
    ...(costPerDay === undefined ? [] : [formatCost(costPerDay, currency)]),
  ].join(' and ')
}

/** How much of a limit is left for today. */
export function remainingWords(limit: OwnUsage['limits'][number], currency: string): string {
  const { of, id, tokensPerDay, tokensLeft = 0, costPerDay, costLeft = 0 } = limit
  const whose = { person: 'You have', key: 'This key has', group: `The group ${id} has` }[of]
  const parts = [
    ...(tokensPerDay === undefined
      ? []
      : [`${formatNumber(tokensLeft)} of ${formatNumber(tokensPerDay)} tokens`]),
    ...(costPerDay === undefined
      ? []
      : [`${formatCost(costLeft, currency)} of ${formatCost(costPerDay, currency)}`]),
  ]
  return `${whose} ${parts.join(', and ')} left today, until midnight UTC.`
}

/** Without a price nothing is known of the cost, which is not nothing. */
export function costWords(
  { cost, unpricedCalls }: Pick<UsageReport['total'], 'cost' | 'unpricedCalls'>,
  currency: string,
): string {
  if (cost === undefined) return 'no price'
  const known = formatCost(cost, currency)
  return unpricedCalls === undefined
    ? known
    : `${known} and ${formatNumber(unpricedCalls)} unpriced`
}

/** Small costs have enough digits to differ from zero. */
function formatCost(cost: number, currency: string): string {
  const digits = cost > 0 && cost < 0.01 ? { maximumSignificantDigits: 2 } : {}
  return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(cost)
}
