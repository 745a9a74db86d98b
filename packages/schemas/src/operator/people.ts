import { Flag, optional } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { CostPerDay, TokensPerDay } from './usage.ts'

const Id = z
  .string()
  .min(1)
  .max(300)
  .describe('Identifier of the person, `user:` and what the issuer calls them.')

export const PersonParams = z.object({ id: Id })

export const KnownPerson = z
  .object({
    id: Id,
    name: z.string().optional().describe('Name that the issuer gives; it may change.'),
    email: z
      .string()
      .optional()
      .describe('Address that the issuer gives, only to be shown: it identifies nobody.'),
    groups: z.array(z.string()).describe('Their groups when they were last seen.'),
    firstSeenAt: z.iso.datetime().describe('When they first signed in.'),
    lastSeenAt: z.iso
      .datetime()
      .describe('When they last made a request, accurate to ten minutes.'),
    tokensPerDay: TokensPerDay.optional(),
    costPerDay: CostPerDay.optional(),
  })
  .meta({ id: 'KnownPerson' })

export const PeopleQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('How many to return.'),
  cursor: optional(z.string().max(200)).describe('`nextCursor` of the page before.'),
})

export const PeopleList = z
  .object({
    people: z.array(KnownPerson).describe('In the order in which they first signed in.'),
    nextCursor: z.string().optional().describe('Of the next page; absent on the last one.'),
  })
  .meta({ id: 'PeopleList' })

export const PersonRemoval = z.object({
  dryRun: Flag.default(false).describe('Only say what would be removed.'),
  handTo: optional(
    z
      .string()
      .max(300)
      .regex(/^user:.*\S/, 'must be a person, such as user:7c1e'),
  ).describe('The person who gets their documents and collections; nobody if absent.'),
})

const Count = z.int().min(0)

export const PersonRemoved = z
  .object({
    id: Id,
    dryRun: z.boolean().describe('Whether nothing was changed.'),
    removed: z
      .object({
        sessions: Count.describe('Sessions of the web UI, which end at once.'),
        conversations: Count.describe('Conversations, with all of their answers.'),
        documents: Count.describe('Documents of these conversations.'),
        feedback: Count.describe('Ratings of answers.'),
        artifacts: Count.describe('Files that answers made, stored responses and waiting runs.'),
        keys: Count.describe('API keys that they have made as an administrator.'),
        accounts: Count.describe('Accounts at MCP servers that they have connected.'),
      })
      .describe('What belonged to them alone.'),
    handedOn: z
      .object({
        to: z.string().optional().describe('`handTo`; absent for nobody.'),
        documents: Count.describe('Documents that they have added.'),
        collections: Count.describe('Collections that they have created.'),
      })
      .describe('What stays.'),
  })
  .meta({ id: 'PersonRemoved' })

export type KnownPerson = z.output<typeof KnownPerson>
export type PeopleList = z.output<typeof PeopleList>
export type PersonRemoved = z.output<typeof PersonRemoved>
