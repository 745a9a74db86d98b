import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type ApiKey, SCOPES } from '../../schemas/operator/api-key.ts'

/** The maximum number of keys, including expired ones. */
export const MAX_KEYS = 200

const SECRET_BYTES = 32
const ID_BYTES = 6
const TOKEN = /^ask_([0-9a-f]{12})_([\w-]{43})$/

/** What is stored of a key. Times are milliseconds since the epoch, `day` is days since then. */
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
  /** SHA-256 of the secret, in base64url. With 256 random bits, it needs no slow hash. */
  digest: z.string(),
  lastUsedAt: z.number().optional(),
  day: z.int().optional(),
  /** The tokens used on that day. */
  tokens: z.int().optional(),
})
export type KeyRecord = z.output<typeof KeyRecord>

export const KEY_FILE = 'api-keys'
export const KeyFile = z.object({ version: z.literal(1), keys: z.array(KeyRecord).max(MAX_KEYS) })
export const EMPTY_KEY_FILE: z.output<typeof KeyFile> = { version: 1, keys: [] }

/** Generates a key: its public id, the complete token as sent, and the digest of its secret. */
export function newToken() {
  const id = randomBytes(ID_BYTES).toString('hex')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return { id, token: `ask_${id}_${secret}`, digest: digestOf(secret).toString('base64url') }
}

/** The parts of a token, if it has the form of one. */
export function parseToken(token: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TOKEN.exec(token) ?? []
  return id && secret ? { id, secret } : undefined
}

/** Takes constant time, even if there is no record. */
export function isSecretOf(secret: string, record: KeyRecord | undefined): boolean {
  const presented = digestOf(secret)
  const expected = record ? Buffer.from(record.digest, 'base64url') : digestOf('')
  return timingSafeEqual(presented, expected) && record !== undefined
}

const digestOf = (secret: string) => hash('sha256', secret, 'buffer')

/** What is reported about a key. */
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
