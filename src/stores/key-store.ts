import type { Scope } from '@agent-server/schemas/operator/api-key.ts'

/** An API key, without its secret. Times are milliseconds since the epoch. */
export interface StoredKey {
  id: string
  name: string
  scopes: Scope[]
  collections?: string[] | undefined
  requestsPerMinute?: number | undefined
  tokensPerDay?: number | undefined
  expiresAt?: number | undefined
  createdAt: number
  /** The id of the key that created it; undefined for the master key. */
  createdBy?: string | undefined
  /** The id of the person who created it, and with whom it goes. */
  createdByPerson?: string | undefined
  /** SHA-256 of the secret, in base64url. With 256 random bits, it needs no slow hash. */
  digest: string
}

export interface KeyUse {
  lastUsedAt: number
  /** The days since the epoch on which the tokens were used. */
  day: number
  tokens: number
}

/** A key with its use, if it was used at all. */
export type UsedKey = StoredKey & { use: KeyUse | undefined }

/** How many keys made by OAuth there may be, of the key that allowed them and of all. */
export interface GrantBounds {
  /** How their ids begin. */
  prefix: string
  ofOne: number
  inAll: number
}

/** The API keys, shared by all servers on the store: each sees at once what another has changed. */
export interface KeyStore {
  /** The oldest first. */
  list(): Promise<UsedKey[]>
  find(id: string): Promise<UsedKey | undefined>
  /**
   * Throws `too_many_keys` if there are `most` already, or as many keys made by OAuth as `grants` allows. Returns false,
   * without a change, if the key or person that creates it does not exist any more.
   */
  add(key: StoredKey, most: number, grants?: GrantBounds): Promise<boolean>
  /**
   * Gives a key another secret and expiry, if its digest is still `digest`; returns whether it was. So of several
   * servers that present the same digest, one succeeds.
   */
  renew(id: string, digest: string, next: Pick<StoredKey, 'digest' | 'expiresAt'>): Promise<boolean>
  /** Removes a key and those that it created, with their conversations. Returns whether it existed. */
  remove(id: string): Promise<boolean>
  /** Adds to what was used. Tokens of earlier days than the last one stored no longer count; nor do unknown keys. */
  addUse(uses: readonly (KeyUse & { id: string })[]): Promise<void>
  /**
   * Adds as many tokens as are wanted and as the day has left of `most`, and returns how many: 0 if it has none. What
   * several servers reserve at the same time is never more than that.
   */
  reserve(wanted: KeyUse & { id: string; most: number }): Promise<number>
}
