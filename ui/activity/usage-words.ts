import type { OwnUsage, UsageReport } from '../../packages/client/src/agent-server.ts'
import { formatNumber } from '../format.ts'

/** How much of a limit is left for today. */
export function leftWords(limit: OwnUsage['limits'][number], currency: string): string {
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

/** Small costs are told exactly enough to differ from nothing. */
function formatCost(cost: number, currency: string): string {
  const digits = cost > 0 && cost < 1 ? { maximumSignificantDigits: 2 } : {}
  return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(cost)
}
