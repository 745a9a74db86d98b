import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { filledText, optional } from '../fields.ts'
import { CollectionName } from '../metadata.ts'

/** What a key permits: to search, ask the agent, change documents, administer the server. */
export const SCOPES = ['query', 'chat', 'ingest', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who makes a request, and what they may do and see. */
export interface Caller {
  /** Absent for the master key and the screen, which may do everything. */
  readonly key?: { readonly id: string; readonly name: string }
  readonly scopes: readonly Scope[]
  /** The only collections it may read and write; all if absent. */
  readonly collections?: readonly string[] | undefined
  /**
   * Throws `unauthorized` if the key has since been revoked or has expired; with `spending`, `rate_limited` if it has
   * used up its model tokens for the day.
   */
  verify(spending?: boolean): Promise<void>
  /** Counts model tokens against the key. */
  spend(tokens: number): void
}

/** The caller with the `SERVER_API_KEY`, or signed in to the screen with it. */
export const MASTER: Caller = {
  scopes: SCOPES,
  verify: async () => undefined,
  spend: () => undefined,
}

/** Throws `insufficient_scope` unless the caller has at least one of these scopes. */
export function checkScope({ scopes }: Caller, ...wanted: readonly Scope[]): void {
  if (wanted.some((scope) => scopes.includes(scope))) return
  const named = wanted.map((scope) => `"${scope}"`).join(' or ')
  throw new AppError('insufficient_scope', `This needs a key with the scope ${named}`)
}

const MAX_COLLECTIONS = 20
const MAX_REQUESTS = 100_000
const MAX_TOKENS = 1_000_000_000

const Name = filledText(100)
  .refine((name) => !/\p{Cc}/u.test(name), { message: 'must not hold control characters' })
  .describe('What the key is for, as the log and the screen name it.')
const Scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .describe(
    'What it may do. query: search and read documents; chat: ask the agent; ingest: add, change and delete documents; admin: run the server.',
  )
const Collections = z
  .array(CollectionName)
  .min(1)
  .max(MAX_COLLECTIONS)
  .describe('The only ones that it sees and writes into; all where absent. Not with `admin`.')
const RequestsPerMinute = z
  .int()
  .min(1)
  .max(MAX_REQUESTS)
  .describe('On each server; no bound of its own where absent.')
const TokensPerDay = z
  .int()
  .min(1)
  .max(MAX_TOKENS)
  .describe(
    'Of models, sent and received, by a day of UTC, on all servers together; the last call may go past it.',
  )
const ExpiresAt = z.iso.datetime({ offset: true }).max(64).describe('From then on it is refused.')

export const NewApiKey = z
  .object({
    name: Name,
    scopes: Scopes,
    collections: optional(Collections),
    requestsPerMinute: optional(RequestsPerMinute),
    tokensPerDay: optional(TokensPerDay),
    expiresAt: optional(ExpiresAt),
  })
  .refine(({ scopes, collections }) => !collections || !scopes.includes('admin'), {
    path: ['collections'],
    message: 'cannot bound a key with the scope admin, which sees everything',
  })
  .meta({
    id: 'NewApiKey',
    examples: [{ name: 'website', scopes: ['chat'], collections: ['handbook'] }],
  })

export const ApiKey = z
  .object({
    id: z.string().describe('As the log names it; no secret.'),
    name: Name,
    scopes: Scopes,
    collections: Collections.optional(),
    requestsPerMinute: RequestsPerMinute.optional(),
    tokensPerDay: TokensPerDay.optional(),
    tokensToday: z.int().describe('Of the day of UTC; a few seconds old.'),
    expiresAt: z.iso.datetime().optional().describe('From then on it is refused.'),
    createdAt: z.iso.datetime(),
    createdBy: z
      .string()
      .optional()
      .describe('The id of the key that made it; else the master key.'),
    lastUsedAt: z.iso.datetime().optional().describe('To within some seconds.'),
  })
  .meta({ id: 'ApiKey' })

export const ApiKeyList = z.object({ keys: z.array(ApiKey) }).meta({ id: 'ApiKeyList' })

export const ApiKeyCreated = ApiKey.extend({
  secret: z.string().describe('The key itself, as it is sent: shown this once, kept nowhere.'),
}).meta({ id: 'ApiKeyCreated' })

export const ApiKeyParams = z.object({ id: z.string().min(1).max(64) })

export type NewApiKey = z.output<typeof NewApiKey>
export type ApiKey = z.output<typeof ApiKey>
export type ApiKeyCreated = z.output<typeof ApiKeyCreated>
