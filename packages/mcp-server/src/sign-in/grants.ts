import { hash, randomBytes } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import {
  type Caller,
  GRANT_PREFIX,
  isGrant,
  MAX_KEYS,
  type Scope,
} from '@agent-server/schemas/operator/api-key.ts'
import type { KeyStore, RecordChange, StoredKey } from '../services.ts'

/** How long an authorisation code can be exchanged. */
export const CODE_MS = 60_000
export const ACCESS_SECONDS = 3_600
/** How long an unused refresh token can be used. */
export const REFRESH_MS = 30 * 24 * 3_600_000
/** Keys made by OAuth: of one key that allows them, and of all. */
const MOST = { prefix: GRANT_PREFIX, ofOne: 20, inAll: 100 }

interface Dependencies {
  store: KeyStore
  recordChange: RecordChange
  log: Pick<Log, 'info'>
  now?: () => number
}

/** A key made by OAuth, as long as its secret is the one with this digest. */
interface Grant {
  id: string
  digest: string
}

interface Program {
  name: string
  scopes: readonly Scope[]
}

/** Who allows a program, and where they are. */
interface Granter {
  caller: Caller
  address: string
}

/** As the routes that create and revoke other keys answer. */
const CREATED = 201
const REMOVED = 204

export type Grants = ReturnType<typeof createGrants>

/**
 * Keys that a person allows a program by OAuth. A code or a refresh token names the digest of the key's present
 * secret, which the exchange replaces: so each is good for one exchange, on all servers on the store together.
 */
export function createGrants({ store, recordChange, log, now = Date.now }: Dependencies) {
  /** Removes grants that were never exchanged, or not refreshed in time. */
  const removeOld = async (): Promise<void> => {
    for (const { id, createdAt, expiresAt = 0 } of (await store.list()).filter(isGrant)) {
      const wasExchanged = expiresAt > createdAt + CODE_MS
      if (expiresAt + (wasExchanged ? REFRESH_MS : 0) > now()) continue
      // With a key that a program has used go its conversations.
      await (wasExchanged ? store.removeOld(id, REFRESH_MS) : store.remove(id))
    }
  }

  return {
    /** Makes a key for a program, which has no secret yet. Throws `insufficient_scope` and `too_many_keys`. */
    async begin(program: Program, { caller, address }: Granter): Promise<Grant> {
      const { name, scopes: requested } = program
      const scopes = requested.filter((scope) => caller.scopes.includes(scope))
      if (scopes.length === 0 || !isGranter(caller)) {
        throw new AppError('insufficient_scope', 'This key cannot allow what the program asks for')
      }
      const maker = caller.key && (await store.find(caller.key.id))
      await removeOld()
      const id = GRANT_PREFIX + randomBytes(6).toString('hex')
      // The digest of a secret that is never disclosed.
      const digest = digestOf(randomBytes(32).toString('base64url'))
      const { requestsPerMinute, tokensPerDay } = maker ?? {}
      const key: StoredKey = {
        id,
        name,
        scopes,
        collections: caller.collections && [...caller.collections],
        requestsPerMinute,
        tokensPerDay,
        expiresAt: now() + CODE_MS,
        createdAt: now(),
        createdBy: caller.key?.id,
        digest,
      }
      if (!(await store.add(key, MAX_KEYS, MOST)))
        throw new AppError('unauthorized', 'The key was revoked')
      await recordChange({
        caller,
        address,
        action: 'createApiKey',
        status: CREATED,
        params: { id },
        body: program,
      })
      log.info({ made: { id, name, scopes }, by: caller.key?.id }, 'access allowed by OAuth')
      return { id, digest }
    },

    /**
     * Gives the key a new secret; undefined if it was revoked. Whoever presents an old digest has what somebody else
     * has used already: then the key is revoked.
     */
    async renew({ id, digest }: Grant, address: string) {
      const key = await store.find(id)
      if (!key || !isGrant(key)) return undefined
      const maker = key.createdBy === undefined ? undefined : await store.find(key.createdBy)
      const expiresAt = Math.min(now() + ACCESS_SECONDS * 1_000, maker?.expiresAt ?? Infinity)
      if (expiresAt <= now()) return undefined
      const secret = randomBytes(32).toString('base64url')
      const next = { digest: digestOf(secret), expiresAt }
      if (!(await store.renew(id, digest, next))) {
        await this.revoke(id, address)
        return undefined
      }
      return {
        grant: { id, digest: next.digest },
        token: `ask_${id}_${secret}`,
        scopes: key.scopes,
        seconds: Math.round((expiresAt - now()) / 1_000),
      }
    },

    /** Presents a token that is the key's, or was: so whoever does is recorded as the key. */
    async revoke(id: string, address: string): Promise<void> {
      const key = await store.find(id)
      if (!(await store.remove(id))) return
      const caller = {
        key: { id, name: key?.name ?? '' },
        scopes: [],
        verify: async () => undefined,
      }
      const change = { caller, address, params: { id }, body: undefined }
      await recordChange({ ...change, action: 'revokeApiKey', status: REMOVED })
      log.info({ revoked: id }, 'access by OAuth revoked')
    },
  }
}

/** Not a grant itself, nor a token: made by a person, a key would see more than they do, and outlive them. */
const isGranter = ({ key, person }: Caller) => !person && !(key && isGrant(key))

const digestOf = (secret: string) => hash('sha256', secret, 'buffer').toString('base64url')
