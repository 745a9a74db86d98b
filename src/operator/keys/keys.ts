import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import {
  type ApiKey,
  type ApiKeyCreated,
  type Caller,
  isGrant,
  MAX_KEYS,
  type NewApiKey,
} from '@agent-server/schemas/operator/api-key.ts'
import type { KeyStore, StoredKey, UsedKey } from '../../stores/key-store.ts'
import { createUsage } from './usage.ts'

const SECRET_BYTES = 32
const ID_BYTES = 6
const TOKEN = /^ask_((?:oauth)?[0-9a-f]{12})_([\w-]{43})$/

interface Dependencies {
  store: KeyStore
  log: Pick<Log, 'info' | 'warn'>
  /** Milliseconds since the epoch. */
  now?: () => number
}

export type Keys = ReturnType<typeof createKeys>

/**
 * The keys besides the master key. Each request reads its key from the store, so that all servers on it see at once
 * what one of them changes.
 */
export function createKeys({ store, log, now = Date.now }: Dependencies) {
  const usage = createUsage({ store, log, now })

  const findCurrent = async (id: string): Promise<UsedKey | undefined> => {
    const key = await store.find(id)
    return key && isCurrent(key, now()) ? key : undefined
  }
  /** What is used with OAuth counts against the key that allowed it. Undefined if that key has been revoked. */
  const payerOf = async (key: UsedKey) =>
    isGrant(key) && key.createdBy !== undefined ? findCurrent(key.createdBy) : key
  const toCaller = (key: UsedKey, payer: UsedKey): Caller => ({
    key: { id: key.id, name: key.name },
    scopes: key.scopes,
    collections: key.collections,
    async verify(spending = false) {
      const current = await findCurrent(key.id)
      if (!current) throw revokedKey()
      if (!spending) return
      usage.checkTokens(current)
      const paying = await payerOf(current)
      if (!paying) throw revokedKey()
      usage.checkTokens(paying)
    },
    spend(tokens) {
      usage.spend(key, tokens)
      if (payer !== key) usage.spend(payer, tokens)
    },
  })

  return {
    /** The caller of a key; undefined if unknown, revoked or expired. Throws `rate_limited`, and store errors. */
    async identify(token: string): Promise<Caller | undefined> {
      const [, id, secret] = TOKEN.exec(token) ?? []
      if (id === undefined || secret === undefined) return undefined
      const key = await findCurrent(id)
      if (!isSecretOf(secret, key)) return undefined
      const payer = await payerOf(key)
      if (!payer) return undefined
      usage.admit(key)
      if (payer !== key) usage.admit(payer)
      return toCaller(key, payer)
    },

    async list(): Promise<ApiKey[]> {
      return (await store.list()).map((key) => toApiKey(key, usage.tokensOf(key)))
    },

    /**
     * Throws `too_many_keys`, and `insufficient_scope` or `invalid_request` if the key would allow more than the key
     * that creates it.
     */
    async create(request: NewApiKey, { key: by }: Caller): Promise<ApiKeyCreated> {
      const id = randomBytes(ID_BYTES).toString('hex')
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      const digest = digestOf(secret).toString('base64url')
      const key = { ...toKey(request, now()), createdBy: by?.id, id, digest }
      if (by) {
        const maker = await findCurrent(by.id)
        if (!maker) throw revokedKey()
        refuseWider(key, maker)
      }
      if (!(await store.add(key, MAX_KEYS))) throw revokedKey()
      const { name, scopes, collections } = key
      log.info({ made: { id, name, scopes, collections }, by: by?.id }, 'API key created')
      return { ...toApiKey({ ...key, use: undefined }, 0), secret: `ask_${id}_${secret}` }
    },

    /** Revokes a key and those that it created. Throws `key_not_found`. */
    async revoke(id: string, { key: by }: Caller): Promise<void> {
      if (!(await store.remove(id))) {
        throw new AppError('key_not_found', `There is no API key "${id}"`, { param: 'id' })
      }
      log.info({ revoked: id, by: by?.id }, 'API key revoked')
    },

    /** Stores how keys were used. */
    close: usage.close,
  }
}

const digestOf = (secret: string) => hash('sha256', secret, 'buffer')

/** Takes constant time, even if there is no such key. */
function isSecretOf(secret: string, key: UsedKey | undefined): key is UsedKey {
  const expected = key ? Buffer.from(key.digest, 'base64url') : digestOf('')
  return timingSafeEqual(digestOf(secret), expected) && key !== undefined
}

function isCurrent({ expiresAt }: StoredKey, now: number): boolean {
  return expiresAt === undefined || expiresAt > now
}

function toKey({ expiresAt, scopes, collections, ...wanted }: NewApiKey, createdAt: number) {
  const until = expiresAt === undefined ? undefined : Date.parse(expiresAt)
  if (until !== undefined && until <= createdAt) throw refusal('expiresAt', 'must be in the future')
  return {
    ...wanted,
    scopes: [...new Set(scopes)],
    collections: collections && [...new Set(collections)],
    expiresAt: until,
    createdAt,
  }
}

/** What is reported about a key. */
function toApiKey({ digest: _, use, ...key }: UsedKey, tokensToday: number): ApiKey {
  const { expiresAt, createdAt, ...plain } = key
  const iso = (time: number) => new Date(time).toISOString()
  return {
    ...plain,
    tokensToday,
    createdAt: iso(createdAt),
    expiresAt: expiresAt === undefined ? undefined : iso(expiresAt),
    lastUsedAt: use && iso(use.lastUsedAt),
  }
}

/**
 * A key can only create narrower ones: without `admin`, and without more scopes, higher limits or a longer life than
 * its own.
 */
function refuseWider(key: StoredKey, maker: StoredKey): void {
  const wider = key.scopes.filter((scope) => scope === 'admin' || !maker.scopes.includes(scope))
  if (wider.length > 0) {
    const message = `scopes: this key cannot grant ${wider.join(', ')}; use the SERVER_API_KEY`
    throw new AppError('insufficient_scope', message, { param: 'scopes' })
  }
  for (const field of ['expiresAt', 'requestsPerMinute', 'tokensPerDay'] as const) {
    const [most, asked] = [maker[field], key[field]]
    if (most === undefined || (asked !== undefined && asked <= most)) continue
    throw refusal(field, 'is required and must not exceed that of the key used for this request')
  }
}

function revokedKey(): AppError {
  return new AppError('unauthorized', 'The key was revoked or has expired')
}
