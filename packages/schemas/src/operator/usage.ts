import { optional } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

const MAX_TOKENS = 1_000_000_000
/** For currencies of small units, too. */
const MAX_COST = 1_000_000_000

export const TokensPerDay = z
  .int()
  .min(1)
  .max(MAX_TOKENS)
  .describe(
    'Limit on model tokens, sent and received, per UTC day across all servers. The last call of a model may exceed it.',
  )
export const CostPerDay = z
  .number()
  .min(0.0001)
  .max(MAX_COST)
  .describe(
    'Limit on what model calls cost per UTC day across all servers, by the `prices` in `agent.json`. The last call may exceed it; models without a price cost nothing.',
  )

export const PersonChange = z
  .object({
    tokensPerDay: TokensPerDay.nullish(),
    costPerDay: CostPerDay.nullish(),
  })
  .describe('`null` takes a limit away, so that those of `agent.json` count again.')
  .meta({ id: 'PersonChange', examples: [{ tokensPerDay: 500_000 }] })

const Day = z.iso.date().max(10).describe('A day in UTC.')
const Id = z.string().min(1).max(300)
const Filter = (what: string) => optional(Id).describe(`Only of this ${what}.`)
const DIMENSION = '(?:day|person|group|key|agent|model)'

export const UsageQuery = z.object({
  by: z
    .string()
    .max(60)
    .regex(
      new RegExp(`^${DIMENSION}(?:,${DIMENSION}){0,5}$`),
      'must be some of day, person, group, key, agent, model, separated by commas',
    )
    .default('day')
    .describe(
      'What the rows are of: one or several of `day`, `person`, `group`, `key`, `agent`, `model`, separated by commas. A person counts in each of their groups.',
    ),
  since: optional(Day).describe('The first day. Default: 29 days before the last.'),
  until: optional(Day).describe('The last day. Default: today.'),
  person: Filter('person, `user:…`'),
  group: Filter('group’s members'),
  key: Filter('key, with what it has paid for'),
  agent: Filter('agent'),
  model: Filter('model'),
  limit: z.coerce.number().int().min(1).max(10_000).default(100).describe('How many rows.'),
})

const Tokens = z.int().min(0)
const Cost = z.number().min(0)
const AMOUNTS = {
  calls: Tokens.describe('Calls of models.'),
  inputTokens: Tokens.describe('Tokens sent.'),
  cachedTokens: Tokens.describe('Of these, what the model’s server took from its cache.'),
  outputTokens: Tokens.describe('Tokens received.'),
  cost: Cost.optional().describe(
    'What they cost, in `currency`; absent if none of the models had a price.',
  ),
  unpricedCalls: Tokens.optional().describe(
    'Calls that `cost` leaves out, since their model had no price; absent if there are none.',
  ),
}
const Amounts = z.object(AMOUNTS)

const UsageRow = z
  .object({
    day: Day.optional(),
    person: z
      .string()
      .optional()
      .describe('The person; `removed` for all who were removed. Absent for keys and the server.'),
    personName: z.string().optional().describe('As the issuer has told it.'),
    group: z.string().optional().describe('Absent for who is in none.'),
    key: z.string().optional().describe('The id of the key; absent if none was used.'),
    keyName: z.string().optional().describe('Absent once the key is revoked.'),
    agent: z.string().optional().describe('Absent for work outside of an agent.'),
    model: z.string().optional().describe('As in `CHAT_MODEL`.'),
    ...AMOUNTS,
  })
  .meta({ id: 'UsageRow', description: 'Of what the report is by, each row has the values.' })

const Currency = z.string().describe('The currency of the prices in `agent.json`.')

export const UsageReport = z
  .object({
    currency: Currency,
    rows: z.array(UsageRow).describe('The latest day first, then what took the most tokens.'),
    hasMore: z.boolean().describe('Whether there are more rows than `limit`.'),
    total: Amounts.describe('Of all rows, each call counted once.'),
  })
  .meta({ id: 'UsageReport' })

const Left = z
  .object({
    of: z.enum(['person', 'group', 'key']).describe('Whose limit it is; a group’s is shared.'),
    id: z.string().describe('Which one.'),
    tokensPerDay: TokensPerDay.optional(),
    tokensLeft: Tokens.optional().describe('What is left for today, less what answers may use.'),
    costPerDay: CostPerDay.optional(),
    costLeft: Cost.optional().describe('What is left for today, less what answers may use.'),
  })
  .meta({ id: 'UsageLeft' })

export const OwnUsage = z
  .object({
    currency: Currency,
    limits: z.array(Left).describe('All that count; empty if there are none.'),
    today: Amounts.describe('What was used in the current UTC day.'),
    days: z.array(UsageRow).describe('Each day of the last 30 with any use, the latest first.'),
  })
  .meta({ id: 'OwnUsage' })

export type PersonChange = z.output<typeof PersonChange>
export type UsageQuery = z.output<typeof UsageQuery>
export type UsageReport = z.output<typeof UsageReport>
export type OwnUsage = z.output<typeof OwnUsage>
