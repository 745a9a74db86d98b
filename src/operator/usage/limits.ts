import { AppError } from '@agent-server/lib/errors.ts'
import type { Caller, Person } from '@agent-server/schemas/operator/api-key.ts'
import type { DayLimits, KeyStore, OwnerLimits, PeopleStore, Refusal } from '@agent-server/stores'
import type { AgentConfiguration } from '../../agent/configuration.ts'

type Budgets = AgentConfiguration['budgets']

export const DAY_MS = 86_400_000
/** When to try again while all that is left is held. */
const HELD_SECONDS = 5

interface Dependencies {
  keys: Pick<KeyStore, 'find'>
  people: Pick<PeopleStore, 'find'>
  /** As they are now. */
  budgets: () => Budgets
}

export type Limits = ReturnType<typeof createLimits>

/** The one place that knows what a caller may use in a day: as its keys, as a person, and as a member of groups. */
export function createLimits({ keys, people, budgets }: Dependencies) {
  const ofKey = async (id: string): Promise<OwnerLimits> => {
    const { tokensPerDay, costPerDay } = (await keys.find(id)) ?? {}
    return { kind: 'key', id, tokensPerDay, costPerDay }
  }
  const ofPerson = async (person: Person): Promise<OwnerLimits[]> => {
    const own = await people.find(person.id)
    const { people: everybody, groups } = budgets()
    const theirs = person.groups.flatMap((name) => {
      const group = Object.hasOwn(groups, name) ? groups[name] : undefined
      return group ? [{ name, ...group }] : []
    })
    const each = theirs.filter(({ shared }) => !shared)
    const allowance = (limit: keyof DayLimits) =>
      own?.[limit] ?? mostOf(each.map((group) => group[limit])) ?? everybody[limit]
    return [
      {
        kind: 'person',
        id: person.id,
        tokensPerDay: allowance('tokensPerDay'),
        costPerDay: allowance('costPerDay'),
      },
      ...theirs
        .filter(({ shared }) => shared)
        .map(({ name: id, tokensPerDay, costPerDay }) => {
          return { kind: 'group' as const, id, tokensPerDay, costPerDay }
        }),
    ]
  }

  /** The limits of whoever pays for a caller; none for the master key. */
  return async ({ key, person }: Caller): Promise<OwnerLimits[]> => {
    const keyIds = key ? new Set([key.id, key.payer ?? key.id]) : []
    const limits = [
      ...(await Promise.all([...keyIds].map(ofKey))),
      ...(person ? await ofPerson(person) : []),
    ]
    return limits.filter(
      ({ tokensPerDay, costPerDay }) => tokensPerDay !== undefined || costPerDay !== undefined,
    )
  }
}

function mostOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** Says whose limit was reached, and when to come again. */
export function limitReached(
  { limits, limit, isHeld }: Refusal,
  currency: string,
  now: number,
): AppError {
  const most = (limits[limit] ?? 0).toLocaleString('en')
  const amount = limit === 'tokensPerDay' ? `${most} tokens` : `${most} ${currency}`
  if (isHeld) {
    const { who } = WORDS[limits.kind](limits.id)
    const message = `Answers in progress may use what is left today of the ${amount} of ${who}; try again shortly`
    return new AppError('rate_limited', message, { retryAfter: HELD_SECONDS })
  }
  const { used } = WORDS[limits.kind](limits.id)
  const message = `${used} ${amount} for today; the limit is reset at midnight UTC`
  const midnight = (Math.floor(now / DAY_MS) + 1) * DAY_MS
  return new AppError('rate_limited', message, { retryAfter: Math.ceil((midnight - now) / 1_000) })
}

const WORDS: Record<OwnerLimits['kind'], (id: string) => { who: string; used: string }> = {
  person: () => ({ who: 'your account', used: 'You have used your' }),
  key: () => ({ who: 'this key', used: 'This key has used its' }),
  group: (name) => ({
    who: `the group “${name}”`,
    used: `The group “${name}” has used its`,
  }),
}
