import { setTimeout } from 'node:timers/promises'
import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { neverShowPassing } from '@agent-server/lib/secrets.ts'
import { OAuthError, type OAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { McpAccountKey, McpAccountStore, StoredMcpAccount } from '../../stores/people-store.ts'
import { type OAuthClient, refreshSignIn } from './account-sign-in.ts'
import type { SessionTarget, TokenSource } from './session.ts'

/** Tokens are renewed this long before they expire. */
const EARLY_MS = 60_000
/** A server that began to renew tokens so long ago has failed: longer than that may take. */
const CLAIM_MS = 20_000
const OTHERS = { waitMs: 10_000, everyMs: 100 }

/** What is encrypted; it says to what it belongs, so that nobody's tokens can be put in another's place. */
const Sealed = z.object({
  owner: z.string(),
  connection: z.string(),
  url: z.string(),
  issuer: z.string(),
  client: z.object({ client_id: z.string(), client_secret: z.string().optional() }),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number().optional(),
})
type Sealed = z.output<typeof Sealed>

interface OpenAccount {
  stored: StoredMcpAccount
  content: Sealed
}

/** The person has to connect an account first. */
export class AccountRequired extends Refusal {
  constructor(connection: string, address: string) {
    super(
      `The person has no connected account at "${connection}". Give them this address, where they can connect it, and ask them to repeat their question then: ${address}`,
    )
  }
}

interface Dependencies {
  store: McpAccountStore
  encryption: Encryption
  /** Where people connect their accounts. */
  address: string
}

/** Where an account is used; the target is read anew each time, since variables may change. */
interface AccountAt {
  owner: string
  connection: string
  target: () => SessionTarget
}

export type McpAccounts = ReturnType<typeof createMcpAccounts>

/** The accounts of people at MCP servers: their tokens, encrypted, are renewed by one server at a time. */
export function createMcpAccounts({ store, encryption, address }: Dependencies) {
  const open = async ({
    owner,
    connection,
    target,
  }: AccountAt): Promise<OpenAccount | undefined> => {
    const stored = await store.find({ owner, connection })
    const content = stored && Sealed.safeParse(await encryption.open(stored.sealed)).data
    if (!content || content.owner !== owner || content.connection !== connection) return undefined
    // Tokens are for the server at which they were made alone.
    return content.url === target().url.href ? { stored, content } : undefined
  }

  const renewed = async (at: AccountAt, { stored, content }: OpenAccount): Promise<OpenAccount> => {
    const { refreshToken, client, issuer } = content
    if (refreshToken === undefined) return lost(at, stored)
    const claimedAt = Date.now()
    if (!(await store.claim(stored, claimedAt - CLAIM_MS, claimedAt))) return byOthers(at, stored)
    try {
      const tokens = await refreshSignIn(at.target(), { client, issuer, refreshToken })
      const next = { ...content, ...tokensOf(tokens, refreshToken) }
      const sealed = await encryption.seal(next)
      if (!(await store.renew(stored, sealed))) throw new AccountRequired(at.connection, address)
      return { stored: { ...stored, sealed }, content: next }
    } catch (error) {
      if (isRefused(error)) return lost(at, stored)
      await store.claim(stored, claimedAt, 0)
      throw error
    }
  }

  /** Tokens to renew with work once: what another server, or another call, learns counts here, too. */
  const byOthers = async (at: AccountAt, before: StoredMcpAccount): Promise<OpenAccount> => {
    const until = performance.now() + OTHERS.waitMs
    while (performance.now() < until) {
      await setTimeout(OTHERS.everyMs)
      const account = await open(at)
      if (!account) throw new AccountRequired(at.connection, address)
      if (account.stored.sealed !== before.sealed) return account
    }
    throw new Refusal('The authorization server did not answer in time')
  }

  const lost = async (at: AccountAt, stored: StoredMcpAccount): Promise<never> => {
    await store.remove(stored)
    throw new AccountRequired(at.connection, address)
  }

  return {
    address,
    list: (owner: string) => store.list(owner),
    /** When the account was connected; undefined if there is none. */
    connectedAt: async (at: AccountAt) => (await open(at))?.stored.connectedAt,
    remove: (key: McpAccountKey) => store.remove({ owner: key.owner, connection: key.connection }),

    async save(
      { owner, connection, target }: AccountAt,
      { issuer, client, tokens }: { issuer: string; client: OAuthClient; tokens: OAuthTokens },
    ): Promise<void> {
      const url = target().url.href
      const content = { owner, connection, url, issuer, client, ...tokensOf(tokens) }
      const sealed = await encryption.seal(content)
      await store.save({ owner, connection, sealed, connectedAt: Date.now() })
    },

    /** For the sessions of the account that was connected then, and of no later one. */
    sourceFor(at: AccountAt, connectedAt: number): TokenSource {
      let last: string | undefined
      const current = async () => {
        const account = await open(at)
        if (account?.stored.connectedAt === connectedAt) return account
        throw new AccountRequired(at.connection, address)
      }
      return {
        async token() {
          const account = await current()
          const { expiresAt = Number.POSITIVE_INFINITY } = account.content
          const isFresh = expiresAt - EARLY_MS > Date.now()
          const { content } = isFresh ? account : await renewed(at, account)
          last = content.accessToken
          neverShowPassing(last)
          return last
        },
        async onUnauthorized() {
          const account = await current()
          if (account.content.accessToken === last) await renewed(at, account)
        },
        lastToken: () => last,
      }
    },
  }
}

function tokensOf(tokens: OAuthTokens, refreshToken?: string) {
  const { access_token: accessToken, expires_in: seconds } = tokens
  return {
    accessToken,
    refreshToken: tokens.refresh_token ?? refreshToken,
    expiresAt: seconds === undefined ? undefined : Date.now() + seconds * 1_000,
  }
}

/** Refusals that say something of the server, and not of the person's tokens. */
const NOT_ABOUT_TOKENS = ['server_error', 'temporarily_unavailable', 'slow_down']

const isRefused = (error: unknown) =>
  error instanceof OAuthError && !NOT_ABOUT_TOKENS.includes(error.code)
