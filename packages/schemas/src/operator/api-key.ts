import { AppError } from '@agent-server/lib/errors.ts'
import { filledText, optional } from '@agent-server/lib/fields.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import { z } from 'zod'
import { CollectionName } from '../collection.ts'
import { CostPerDay, TokensPerDay } from './usage.ts'

/** What a key permits: to search, ask the agent, change documents, administer the server, speak for people. */
export const SCOPES = ['query', 'chat', 'ingest', 'admin', 'act-as'] as const
export type Scope = (typeof SCOPES)[number]

/** The maximum number of keys, including expired ones. */
export const MAX_KEYS = 200

/** The prefix of the ids of keys that programs get by OAuth. */
export const GRANT_PREFIX = 'oauth'
export const isGrant = ({ id }: { id: string }) => id.startsWith(GRANT_PREFIX)

/** As many characters as an issuer's `sub` has at most (OpenID Connect Core, 2). */
export const MAX_PERSON_LENGTH = 255
/** As many groups as Entra puts into a token at most; a search tests each of them. */
export const MAX_GROUPS = 200
export const MAX_GROUP_LENGTH = 200

/** Somebody who signed in, or for whom a program speaks that is trusted to. */
export interface Person {
  /** `user:<id>`, as in lists of access; the id is the subject that the issuer knows them by, never their email. */
  readonly id: string
  /** For people to read; they may change it. */
  readonly name?: string | undefined
  /** Identifiers of their groups, as the issuer or the program has told them for this request. */
  readonly groups: readonly string[]
  /** Sees and changes everything. */
  readonly isAdministrator: boolean
}

/** Who makes a request, and what they may do and see. */
export interface Caller {
  /** Absent for the master key and who signed in with it, who may do everything, and for people. `payer` is the key that let a program in. */
  readonly key?: { readonly id: string; readonly name: string; readonly payer?: string }
  /** Whose rights and conversations count; also for the key of a program that speaks for them. */
  readonly person?: Person
  readonly scopes: readonly Scope[]
  /** The only collections it may read and write; all if absent. */
  readonly collections?: readonly string[] | undefined
  /** Throws `unauthorized` if the key has since been revoked or has expired. */
  verify(): Promise<void>
}

/** The caller with the `SERVER_API_KEY`, or signed in to the web UI with it. */
export const MASTER: Caller = {
  scopes: SCOPES,
  verify: async () => undefined,
}

type Identity = Pick<Caller, 'key' | 'person'>

/** Whether it is who has the `SERVER_API_KEY`: neither a key made here nor a person, not even an administrator. */
export const isMaster = ({ key, person }: Identity): boolean => !key && !person

/** To whom belongs what a caller makes: a person's id, a key's id, or undefined for the master key. */
export const ownerIdOf = (caller?: Identity): string | undefined =>
  caller?.person?.id ?? caller?.key?.id

/** Whose accounts at other servers a caller uses; undefined for an API key, which is nobody's account. */
export function accountOwner(caller: Identity | undefined): string | undefined {
  if (!caller) return undefined
  return caller.person?.id ?? (isMaster(caller) ? 'master' : undefined)
}

/** The same, of a person whom an administrator names. Throws `not_permitted` and `insufficient_scope`. */
export function requireAccountOwner(caller: Caller, person?: string): string {
  if (person !== undefined) checkScope(caller, 'admin')
  const owner = person ?? accountOwner(caller)
  if (owner !== undefined) return owner
  throw new AppError('not_permitted', 'An API key has no accounts: only people have them')
}

/** Whose share of what is limited a caller uses: that of the key, for all whom it has let in or speaks for. */
export const shareOf = ({ key, person }: Identity): Owner => key?.payer ?? key?.id ?? person?.id

/** Throws `insufficient_scope` unless the caller has at least one of these scopes. */
export function checkScope({ scopes }: Caller, ...sufficient: readonly Scope[]): void {
  if (sufficient.some((scope) => scopes.includes(scope))) return
  const names = sufficient.map((scope) => `"${scope}"`).join(' or ')
  throw new AppError('insufficient_scope', `This request requires a key with the scope ${names}`)
}

const MAX_COLLECTIONS = 20
const MAX_REQUESTS = 100_000

const Name = filledText(100)
  .refine((name) => !/\p{Cc}/u.test(name), { message: 'must not contain control characters' })
  .describe('Name of the key, shown in the log and the web UI.')
const Scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .describe(
    'What the key permits. `query`: search and read documents; `chat`: ask the agent; `ingest`: add, change and delete documents; `admin`: administer the server; `act-as`: speak for people with the header `Agent-User`.',
  )
const Collections = z
  .array(CollectionName)
  .min(1)
  .max(MAX_COLLECTIONS)
  .describe(
    'The only collections the key can read and write; if absent, all. Cannot be combined with `admin`.',
  )
const RequestsPerMinute = z
  .int()
  .min(1)
  .max(MAX_REQUESTS)
  .describe('Limit per server; unlimited if absent.')
const ExpiresAt = z.iso
  .datetime({ offset: true })
  .max(64)
  .describe('The key is refused from this time on.')

export const NewApiKey = z
  .object({
    name: Name,
    scopes: Scopes,
    collections: optional(Collections),
    requestsPerMinute: optional(RequestsPerMinute),
    tokensPerDay: optional(TokensPerDay),
    costPerDay: optional(CostPerDay),
    expiresAt: optional(ExpiresAt),
  })
  .refine(({ scopes, collections }) => !collections || !scopes.includes('admin'), {
    path: ['collections'],
    message: 'cannot be combined with the scope admin, which has access to all collections',
  })
  .meta({
    id: 'CreateApiKey',
    examples: [{ name: 'website', scopes: ['chat'], collections: ['handbook'] }],
  })

export const ApiKey = z
  .object({
    id: z.string().describe('Identifier of the key, as shown in the log. Not a secret.'),
    name: Name,
    scopes: Scopes,
    collections: Collections.optional(),
    requestsPerMinute: RequestsPerMinute.optional(),
    tokensPerDay: TokensPerDay.optional(),
    costPerDay: CostPerDay.optional(),
    tokensToday: z
      .int()
      .describe('Model tokens used in the current UTC day; may be a few seconds old.'),
    expiresAt: z.iso.datetime().optional().describe('The key is refused from this time on.'),
    createdAt: z.iso.datetime().describe('When the key was created.'),
    createdBy: z
      .string()
      .optional()
      .describe(
        'Identifier of the key or person that created it; absent for the SERVER_API_KEY. It is revoked together with that key, or removed together with that person.',
      ),
    lastUsedAt: z.iso
      .datetime()
      .optional()
      .describe('When the key was last used, accurate to a few seconds; absent if it never was.'),
  })
  .meta({ id: 'ApiKey' })

export const ApiKeyList = z
  .object({
    keys: z
      .array(ApiKey)
      .describe('All keys, including those that programs received by signing in.'),
  })
  .meta({ id: 'ApiKeyList' })

export const ApiKeyCreated = ApiKey.extend({
  secret: z
    .string()
    .describe('The secret that clients send. It is shown only once and is not stored.'),
}).meta({ id: 'ApiKeyCreated' })

export const ApiKeyParams = z.object({
  id: z.string().min(1).max(64).describe('Identifier of the key.'),
})

export type NewApiKey = z.output<typeof NewApiKey>
export type ApiKey = z.output<typeof ApiKey>
export type ApiKeyCreated = z.output<typeof ApiKeyCreated>
