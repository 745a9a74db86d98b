import type { Scope } from '@agent-server/schemas/operator/api-key.ts'
import type { DayLimits } from './usage-store.ts'

/** An API key, without its secret. Times are milliseconds since the epoch. */
export interface StoredKey extends DayLimits {
  id: string
  name: string
  scopes: Scope[]
  collections?: string[] | undefined
  requestsPerMinute?: number | undefined
  expiresAt?: number | undefined
  createdAt: number
  /** The id of the key that created it; undefined for the master key. */
  createdBy?: string | undefined
  /** The id of the person who created it, and with whom it goes. */
  createdByPerson?: string | undefined
  /** SHA-256 of the secret, in base64url. With 256 random bits, it needs no slow hash. */
  digest: string
}

/** When a key was last used. */
export interface KeyUse {
  id: string
  lastUsedAt: number
}

/** A key with its last use, if it was used at all. */
export type UsedKey = StoredKey & { lastUsedAt: number | undefined }

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
  /**
   * Removes a key that expired so long ago by the store's clock, like `remove`; does nothing while that cannot be
   * believed.
   */
  removeOld(id: string, milliseconds: number): Promise<boolean>
  /** Notes when keys were used, unless later uses are known; of unknown keys nothing. */
  addUse(uses: readonly KeyUse[]): Promise<void>
}
