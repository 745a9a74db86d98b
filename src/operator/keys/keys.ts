import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import {
  type ApiKey,
  type ApiKeyCreated,
  type Caller,
  isGrant,
  isMaster,
  MAX_KEYS,
  type NewApiKey,
  ownerIdOf,
  type Scope,
} from '@agent-server/schemas/operator/api-key.ts'
import type { KeyStore, StoredKey, UsedKey } from '@agent-server/stores'
import type { UsageLedger } from '../usage/ledger.ts'
import { KeyUse } from './key-use.ts'

const SECRET_BYTES = 32
const ID_BYTES = 6
/** What administrators may let programs do, in nobody's name. */
const PERSON_GRANTS: readonly Scope[] = ['query', 'chat', 'ingest']
const TOKEN = /^ask_((?:oauth)?[0-9a-f]{12})_([\w-]{43})$/

interface Dependencies {
  store: KeyStore
  ledger: Pick<UsageLedger, 'tokensOfKeys'>
  log: Pick<Log, 'info' | 'warn'>
  /** Milliseconds since the epoch. */
  now?: () => number
}

/**
 * The keys besides the master key. Each request reads its key from the store, so that all servers on it see at once
 * what one of them changes.
 */
export class Keys {
  readonly #store: KeyStore
  readonly #use: KeyUse
  readonly #ledger: Dependencies['ledger']
  readonly #log: Dependencies['log']
  readonly #now: () => number

  constructor({ store, ledger, log, now = Date.now }: Dependencies) {
    this.#store = store
    this.#use = new KeyUse({ store, log, now })
    this.#ledger = ledger
    this.#log = log
    this.#now = now
  }

  /** The caller of a key; undefined if unknown, revoked or expired. Throws `rate_limited`, and store errors. */
  async identify(token: string): Promise<Caller | undefined> {
    const [, id, secret] = TOKEN.exec(token) ?? []
    if (id === undefined || secret === undefined) return undefined
    const key = await this.#findCurrent(id)
    if (!isSecretOf(secret, key)) return undefined
    const payer = await this.#payerOf(key)
    if (!payer) return undefined
    this.#use.admit(key)
    if (payer !== key) this.#use.admit(payer)
    return this.#toCaller(key, payer)
  }

  async list(): Promise<ApiKey[]> {
    const keys = await this.#store.list()
    const tokens = await this.#ledger.tokensOfKeys()
    return keys.map((key) => toApiKey(key, tokens.get(key.id) ?? 0))
  }

  /**
   * Throws `too_many_keys`, and `insufficient_scope` or `invalid_request` if the key would allow more than the key
   * that creates it.
   */
  async create(request: NewApiKey, caller: Caller): Promise<ApiKeyCreated> {
    const id = randomBytes(ID_BYTES).toString('hex')
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const digest = digestOf(secret).toString('base64url')
    const key = { ...toKey(request, this.#now()), ...makerOf(caller), id, digest }
    await this.#checkMaker(key, caller)
    if (!(await this.#store.add(key, MAX_KEYS))) throw revokedKey()
    const { name, scopes, collections } = key
    this.#log.info(
      { made: { id, name, scopes, collections }, by: ownerIdOf(caller) },
      'API key created',
    )
    return { ...toApiKey({ ...key, lastUsedAt: undefined }, 0), secret: `ask_${id}_${secret}` }
  }

  async #checkMaker(key: StoredKey, caller: Caller): Promise<void> {
    if (isMaster(caller)) return
    if (!caller.key) return refuseScopes(key, PERSON_GRANTS)
    const maker = await this.#findCurrent(caller.key.id)
    if (!maker) throw revokedKey()
    refuseWider(key, maker)
  }

  /** Revokes a key and those that it created. Throws `key_not_found`. */
  async revoke(id: string, caller: Caller): Promise<void> {
    if (!(await this.#store.remove(id))) {
      throw new AppError('key_not_found', `There is no API key "${id}"`, { param: 'id' })
    }
    this.#log.info({ revoked: id, by: ownerIdOf(caller) }, 'API key revoked')
  }

  /** Stores when keys were used. */
  async close(): Promise<void> {
    await this.#use.close()
  }

  async #findCurrent(id: string): Promise<UsedKey | undefined> {
    const key = await this.#store.find(id)
    return key && isCurrent(key, this.#now()) ? key : undefined
  }

  /** What is used with OAuth counts against the key that allowed it. Undefined if that key has been revoked. */
  async #payerOf(key: UsedKey): Promise<UsedKey | undefined> {
    return isGrant(key) && key.createdBy !== undefined ? this.#findCurrent(key.createdBy) : key
  }

  #toCaller(key: UsedKey, payer: UsedKey): Caller {
    return {
      key: { id: key.id, name: key.name, payer: payer.id },
      scopes: key.scopes,
      collections: key.collections,
      verify: () => this.#checkValid(key),
    }
  }

  /** Throws `unauthorized` if the key, or the one that pays for it, was revoked since. */
  async #checkValid({ id }: UsedKey): Promise<void> {
    const key = await this.#findCurrent(id)
    if (!key || !(await this.#payerOf(key))) throw revokedKey()
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

/** Whose end is the key's end as well. */
function makerOf({ key, person }: Caller): Pick<StoredKey, 'createdBy' | 'createdByPerson'> {
  return { createdBy: key?.id, createdByPerson: key ? undefined : person?.id }
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
function toApiKey({ digest: _, lastUsedAt, ...key }: UsedKey, tokensToday: number): ApiKey {
  const { expiresAt, createdAt, createdByPerson, ...plain } = key
  const iso = (time: number) => new Date(time).toISOString()
  return {
    ...plain,
    createdBy: plain.createdBy ?? createdByPerson,
    tokensToday,
    createdAt: iso(createdAt),
    expiresAt: expiresAt === undefined ? undefined : iso(expiresAt),
    lastUsedAt: lastUsedAt === undefined ? undefined : iso(lastUsedAt),
  }
}

/**
 * A key can only create narrower ones: without `admin`, and without more scopes, higher limits or a longer life than
 * its own.
 */
function refuseWider(key: StoredKey, maker: StoredKey): void {
  const grantable = maker.scopes.filter((scope) => scope !== 'admin')
  refuseScopes(key, grantable)
  for (const field of ['expiresAt', 'requestsPerMinute', 'tokensPerDay', 'costPerDay'] as const) {
    const [most, value] = [maker[field], key[field]]
    if (most === undefined || (value !== undefined && value <= most)) continue
    throw refusal(field, 'is required and must not exceed that of the key used for this request')
  }
}

function refuseScopes({ scopes }: StoredKey, grantable: readonly Scope[]): void {
  const wider = scopes.filter((scope) => !grantable.includes(scope))
  if (wider.length === 0) return
  const message = `scopes: you cannot grant ${wider.join(', ')}; use the SERVER_API_KEY`
  throw new AppError('insufficient_scope', message, { param: 'scopes' })
}

function revokedKey(): AppError {
  return new AppError('unauthorized', 'The key was revoked or has expired')
}
