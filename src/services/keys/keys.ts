import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { ApiKey, ApiKeyCreated, Caller, NewApiKey } from '../../schemas/operator/api-key.ts'
import type { LockFile } from '../../stores/lock-file.ts'
import {
  isSecretOf,
  type KeyFile,
  type KeyRecord,
  MAX_KEYS,
  newToken,
  parseToken,
  toApiKey,
} from './record.ts'
import { createUsage } from './usage.ts'

/** The maximum age of what is known of the keys: for this long another server accepts a revoked key. */
const FRESH_MS = 2_000
/** The same for an unknown key, because another server may have just created it. */
const UNKNOWN_MS = 250
/** The delay until the use of keys is stored. */
const NOTE_MS = 10_000
const TOO_MANY = `There are ${MAX_KEYS} keys already: revoke one first`

interface Dependencies {
  /** Its content is a `KeyFile`. */
  file: LockFile<Content>
  log: Record<'info' | 'warn', (fields: object, message: string) => void>
  /** Milliseconds since the epoch. */
  now?: () => number
}

export type Keys = ReturnType<typeof createKeys>

/** The keys besides the master key, shared by all servers on the same document store. */
export function createKeys({ file, log, now = Date.now }: Dependencies) {
  const usage = createUsage(now)
  const known = createKnown(file.read, (ids) => usage.keepOnly(ids))
  const noting = createNoting(file.update, usage, known.changed, log)

  const valid = (id: string): KeyRecord | undefined => {
    const record = known.get(id)
    return record && isCurrent(record, now()) ? record : undefined
  }
  const toCaller = ({ id, name, scopes, collections }: KeyRecord): Caller => ({
    ...{ key: { id, name }, scopes, collections },
    async verify(spending = false) {
      await known.refresh(FRESH_MS)
      const record = valid(id)
      if (!record) throw revokedKey()
      if (spending) usage.checkTokens(record)
    },
    spend(tokens) {
      const record = known.get(id)
      if (record) usage.spend(record, tokens)
      noting.later()
    },
  })

  return {
    /** The caller of a key; undefined if unknown, revoked or expired. Throws `rate_limited`, and store errors. */
    async identify(token: string): Promise<Caller | undefined> {
      const parts = parseToken(token)
      if (!parts) return undefined
      await known.refresh(FRESH_MS)
      if (!known.get(parts.id)) await known.refresh(UNKNOWN_MS)
      const record = valid(parts.id)
      if (!isSecretOf(parts.secret, record) || !record) return undefined
      usage.admit(record)
      noting.later()
      return toCaller(record)
    },

    async list(): Promise<ApiKey[]> {
      await known.refresh(0)
      return known.all().map((record) => toApiKey(record, usage.tokensOf(record)))
    },

    /**
     * Throws `too_many_keys`, and `insufficient_scope` or `invalid_request` if the key would allow more than the key
     * that creates it.
     */
    async create(wanted: NewApiKey, { key: maker }: Caller): Promise<ApiKeyCreated> {
      const { id, token, digest } = newToken()
      const record = { ...toRecord(wanted, now(), maker?.id), id, digest }
      await file.update((content) => {
        if (maker) refuseWider(record, findMaker(content.keys, maker.id, now()))
        if (content.keys.length >= MAX_KEYS) throw new AppError('too_many_keys', TOO_MANY)
        return { ...content, keys: [...content.keys, record] }
      })
      known.changed()
      const { name, scopes, collections } = record
      log.info({ made: { id, name, scopes, collections }, by: maker?.id }, 'API key made')
      return { ...toApiKey(record, 0), secret: token }
    },

    /** Revokes a key and those that it created. Throws `key_not_found`. */
    async revoke(id: string, { key: by }: Caller): Promise<void> {
      await file.update((content) => {
        if (!content.keys.some((record) => record.id === id)) throw keyNotFound(id)
        const keys = content.keys.filter((record) => record.id !== id && record.createdBy !== id)
        return { ...content, keys }
      })
      known.changed()
      log.info({ revoked: id, by: by?.id }, 'API key revoked')
    },

    /** Stores how keys were used. */
    close: noting.close,
  }
}

type Content = z.output<typeof KeyFile>
type Update = (change: (content: Content) => Content) => Promise<Content>

/** The records as last read, never older than the caller allows. */
function createKnown(read: () => Promise<Content>, kept: (ids: ReadonlySet<string>) => void) {
  let records: ReadonlyMap<string, KeyRecord> = new Map()
  let asOf = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let changes = 0

  const readAnew = async () => {
    const [begun, before] = [performance.now(), changes]
    const { keys } = await read()
    // This may have been read before a change made by this server.
    if (changes !== before) return
    records = new Map(keys.map((record) => [record.id, record]))
    kept(new Set(records.keys()))
    asOf = begun
  }
  return {
    get: (id: string) => records.get(id),
    all: () => [...records.values()],
    /** Call after a change, so that the next caller reads the records again. */
    changed() {
      changes += 1
      asOf = Number.NEGATIVE_INFINITY
    },
    async refresh(maximumAge: number): Promise<void> {
      const wanted = performance.now() - maximumAge
      while (asOf < wanted) {
        reading ??= readAnew().finally(() => {
          reading = undefined
        })
        await reading
      }
    },
  }
}

/** Stores when keys were last used and their tokens, batched and infrequently. */
function createNoting(
  update: Update,
  usage: ReturnType<typeof createUsage>,
  changed: () => void,
  log: Dependencies['log'],
) {
  let timer: NodeJS.Timeout | undefined
  const note = async () => {
    timer = undefined
    if (!usage.hasChanges()) return
    const { apply, giveBack } = usage.take()
    try {
      await update(({ version, keys }) => ({ version, keys: keys.map(apply) }))
      changed()
    } catch (error) {
      giveBack()
      log.warn({ err: error }, 'the use of API keys is not written down; tried again with the next')
    }
  }
  return {
    later() {
      timer ??= setTimeout(() => void note(), NOTE_MS).unref()
    },
    async close(): Promise<void> {
      clearTimeout(timer)
      await note()
    },
  }
}

function isCurrent({ expiresAt }: KeyRecord, now: number): boolean {
  return expiresAt === undefined || expiresAt > now
}

function toRecord(
  { expiresAt, scopes, collections, ...wanted }: NewApiKey,
  createdAt: number,
  createdBy: string | undefined,
) {
  const until = expiresAt === undefined ? undefined : Date.parse(expiresAt)
  if (until !== undefined && until <= createdAt) throw refusal('expiresAt', 'must be in the future')
  return {
    ...wanted,
    scopes: [...new Set(scopes)],
    ...(collections && { collections: [...new Set(collections)] }),
    ...(until !== undefined && { expiresAt: until }),
    ...{ createdAt, ...(createdBy && { createdBy }) },
  }
}

function findMaker(keys: readonly KeyRecord[], id: string, now: number): KeyRecord {
  const maker = keys.find((record) => record.id === id)
  if (maker && isCurrent(maker, now)) return maker
  throw revokedKey()
}

/**
 * A key can only create narrower ones: without `admin`, and without more scopes, higher limits or a longer life than
 * its own.
 */
function refuseWider(record: KeyRecord, maker: KeyRecord): void {
  const wider = record.scopes.filter((scope) => scope === 'admin' || !maker.scopes.includes(scope))
  if (wider.length > 0) {
    const message = `scopes: this key cannot give ${wider.join(', ')}; the SERVER_API_KEY can`
    throw new AppError('insufficient_scope', message, { param: 'scopes' })
  }
  for (const field of ['expiresAt', 'requestsPerMinute', 'tokensPerDay'] as const) {
    const [most, asked] = [maker[field], record[field]]
    if (most === undefined || (asked !== undefined && asked <= most)) continue
    throw refusal(field, 'must be given, and not go beyond that of the key that asks')
  }
}

function keyNotFound(id: string): AppError {
  return new AppError('key_not_found', `There is no key "${id}"`, { param: 'id' })
}

function revokedKey(): AppError {
  return new AppError('unauthorized', 'The key was revoked, or has expired')
}
