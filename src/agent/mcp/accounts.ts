import { setTimeout } from 'node:timers/promises'
import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { neverShowPassing } from '@agent-server/lib/secrets.ts'
import type { McpAccountKey, McpAccountStore, StoredMcpAccount } from '@agent-server/stores'
import { OAuthError, type OAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { clientOf, OAuthClient, refreshSignIn, WAIT_MS } from './account-sign-in.ts'
import type { SessionTarget, TokenSource } from './session.ts'

/** Tokens are renewed this long before they expire. */
const EARLY_MS = 60_000
/** By how much the clocks of servers may differ. */
const SKEW_MS = 30_000
/** A server that began to renew tokens so long ago has failed. */
const CLAIM_MS = WAIT_MS + SKEW_MS
const OTHERS = { waitMs: 10_000, everyMs: 100 }

/** What is encrypted; it says to what it belongs, so that nobody's tokens can be put in another's place. */
const Sealed = z.object({
  owner: z.string(),
  connection: z.string(),
  url: z.string(),
  issuer: z.string(),
  client: OAuthClient,
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
  const open: Open = async ({ owner, connection, target }) => {
    const stored = await store.find({ owner, connection })
    const content = stored && Sealed.safeParse(await encryption.open(stored.sealed)).data
    if (!content || content.owner !== owner || content.connection !== connection) return undefined
    // Tokens are for the server at which they were made alone.
    return content.url === target().url.href ? { stored, content } : undefined
  }

  const renewed = createRenewal(open, { store, encryption, address })

  return {
    address,
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
      const account = { owner, connection, sealed, connectedAt: Date.now() }
      if (await store.save(account)) return
      throw new AppError('unauthorized', 'The person no longer exists')
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
          const { refreshToken, expiresAt = Number.POSITIVE_INFINITY } = account.content
          const earlyMs = refreshToken === undefined ? 0 : EARLY_MS
          const isFresh = expiresAt - earlyMs > Date.now()
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

type Open = (at: AccountAt) => Promise<OpenAccount | undefined>

/** Gives an account new tokens, or throws: an account whose tokens will never work again is removed. */
function createRenewal(open: Open, { store, encryption, address }: Dependencies) {
  /** By the tokens as they are: calls in this process wait for one renewal. */
  const running = new Map<string, Promise<OpenAccount>>()

  const renewed = (at: AccountAt, account: OpenAccount): Promise<OpenAccount> => {
    const { sealed } = account.stored
    const renewal = running.get(sealed) ?? renew(at, account).finally(() => running.delete(sealed))
    running.set(sealed, renewal)
    return renewal
  }

  const renew = async (at: AccountAt, account: OpenAccount): Promise<OpenAccount> => {
    const { stored, content } = account
    const { refreshToken } = content
    if (refreshToken === undefined) return lost(at, stored)
    const client = clientOf(at.target(), content.client)
    // The configuration may become again what it was.
    if (!client) throw new AccountRequired(at.connection, address)
    const claimedAt = Date.now()
    const free = { until: claimedAt - CLAIM_MS, after: claimedAt + SKEW_MS }
    if (!(await store.claim(stored, free, claimedAt))) return byOthers(at, stored)
    try {
      return await withNewTokens(at, account, { client, refreshToken })
    } catch (error) {
      if (isRefused(error, client)) return lost(at, stored)
      await store.claim(stored, { until: claimedAt, after: claimedAt }, 0)
      throw error
    }
  }

  const withNewTokens = async (
    at: AccountAt,
    { stored, content }: OpenAccount,
    { client, refreshToken }: { client: OAuthClient; refreshToken: string },
  ): Promise<OpenAccount> => {
    const { issuer } = content
    const tokens = await refreshSignIn(at.target(), { client, issuer, refreshToken })
    const next = { ...content, ...tokensOf(tokens, refreshToken) }
    const sealed = await encryption.seal(next)
    if (!(await store.renew(stored, sealed))) throw new AccountRequired(at.connection, address)
    return { stored: { ...stored, sealed }, content: next }
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

  return renewed
}

function tokensOf(tokens: OAuthTokens, refreshToken?: string) {
  const { access_token: accessToken, expires_in: seconds } = tokens
  return {
    accessToken,
    refreshToken: tokens.refresh_token ?? refreshToken,
    expiresAt: seconds === undefined ? undefined : Date.now() + seconds * 1_000,
  }
}

/**
 * Whether the tokens will never work again. A client that registered itself may be forgotten; what is wrong with a
 * configured one, its operator can mend.
 */
const isRefused = (error: unknown, { isRegistered }: OAuthClient) =>
  error instanceof OAuthError &&
  (error.code === 'invalid_grant' || (error.code === 'invalid_client' && isRegistered))
