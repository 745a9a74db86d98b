import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type ApiKey, SCOPES } from '../../schemas/operator/api-key.ts'

/** Keys that there may be at a time, expired ones included. */
export const MAX_KEYS = 200

const SECRET_BYTES = 32
const ID_BYTES = 6
const TOKEN = /^ask_([0-9a-f]{12})_([\w-]{43})$/

/** What is kept of a key. Times are milliseconds since 1970, days are counted since then. */
export const KeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  collections: z.array(z.string()).optional(),
  requestsPerMinute: z.int().optional(),
  tokensPerDay: z.int().optional(),
  expiresAt: z.number().optional(),
  createdAt: z.number(),
  createdBy: z.string().optional(),
  /** SHA-256 of the secret, in base64url: of 256 random bits, which no slow hash need protect. */
  digest: z.string(),
  lastUsedAt: z.number().optional(),
  day: z.int().optional(),
  /** Of that day. */
  tokens: z.int().optional(),
})
export type KeyRecord = z.output<typeof KeyRecord>

export const KEY_FILE = 'api-keys'
export const KeyFile = z.object({ version: z.literal(1), keys: z.array(KeyRecord).max(MAX_KEYS) })
export const EMPTY_KEY_FILE: z.output<typeof KeyFile> = { version: 1, keys: [] }

/** A new key: its public id, and the whole as it is sent. */
export function newToken() {
  const id = randomBytes(ID_BYTES).toString('hex')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return { id, token: `ask_${id}_${secret}`, digest: digestOf(secret).toString('base64url') }
}

/** The parts of what looks like a key. */
export function parseToken(token: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TOKEN.exec(token) ?? []
  return id && secret ? { id, secret } : undefined
}

/** In constant time, also for a record that there is not. */
export function isSecretOf(secret: string, record: KeyRecord | undefined): boolean {
  const presented = digestOf(secret)
  const expected = record ? Buffer.from(record.digest, 'base64url') : digestOf('')
  return timingSafeEqual(presented, expected) && record !== undefined
}

const digestOf = (secret: string) => hash('sha256', secret, 'buffer')

/** What is reported of a key. */
export function toApiKey(
  { digest: _digest, day: _day, tokens: _tokens, ...record }: KeyRecord,
  tokensToday: number,
): ApiKey {
  const { expiresAt, lastUsedAt, createdAt, ...plain } = record
  const iso = (time: number) => new Date(time).toISOString()
  return {
    ...plain,
    tokensToday,
    createdAt: iso(createdAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: iso(lastUsedAt) }),
  }
}
