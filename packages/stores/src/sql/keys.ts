import { AppError } from '@agent-server/lib/errors.ts'
import type { GrantBounds, KeyStore, KeyUse, StoredKey, UsedKey } from '../key-store.ts'
import type { Clock } from './clock.ts'
import { reserveNames } from './collections.ts'
import {
  type Columns,
  insertInto,
  json,
  optionalMoney,
  plain,
  readAll,
  unchecked,
  writeAll,
} from './columns.ts'
import { dropOwnerless } from './conversations.ts'
import type { Dialect } from './dialect.ts'
import {
  integer,
  optionalInteger,
  optionalText,
  type Read,
  type Row,
  readOne,
  type Tx,
  text,
} from './query.ts'

const KEY: Columns<StoredKey> = {
  id: plain('id', text),
  name: plain('name', text),
  scopes: json('scopes', unchecked<StoredKey['scopes']>, []),
  collections: json('collections', unchecked<StoredKey['collections']>, []),
  requestsPerMinute: plain('requests_per_minute', optionalInteger),
  tokensPerDay: plain('tokens_per_day', optionalInteger),
  costPerDay: optionalMoney('cost_per_day'),
  expiresAt: plain('expires_at', optionalInteger),
  createdAt: plain('created_at', integer),
  createdBy: plain('created_by', optionalText),
  createdByPerson: plain('created_by_person', optionalText),
  digest: plain('digest', text),
}

const KEYS = 'SELECT * FROM api_keys LEFT JOIN api_key_use ON key = id'

/** Queries for keys; each sees what was committed before. */
export function createKeyReads(read: Read): Pick<KeyStore, 'list' | 'find'> {
  return {
    list: async () =>
      (await read(`${KEYS} ORDER BY created_at, id`)).flatMap((row) => toKey(row) ?? []),
    find: (id) => readOne(read, `${KEYS} WHERE id = $1`, [id], toKey),
  }
}

/** Undefined if it is damaged: then it is none. */
function toKey(row: Row): UsedKey | undefined {
  const key = readAll(KEY, row)
  if (key.scopes.length === 0 || key.collections?.length === 0) return undefined
  return { ...key, lastUsedAt: optionalInteger(row, 'last_used_at') }
}

const KEY_EXISTS = 'SELECT 1 AS one FROM api_keys WHERE id = $1'
const PERSON_EXISTS = 'SELECT 1 AS one FROM people WHERE id = $1'
const RENEW = 'UPDATE api_keys SET digest = $3, expires_at = $4 WHERE id = $1 AND digest = $2'
const REMOVE = 'DELETE FROM api_keys WHERE id = $1'
const REMOVE_OLD = `${REMOVE} AND expires_at + $2 <= now_ms()`
const ADD_USE = `INSERT INTO api_key_use AS kept (key, last_used_at)
  SELECT id, $2 FROM api_keys WHERE id = $1
  ON CONFLICT (key) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE excluded.last_used_at > kept.last_used_at`

const GRANTS = `SELECT count(*) AS n, count(CASE WHEN coalesce(created_by, '') = $1 THEN 1 END) AS own
  FROM api_keys WHERE id LIKE $2`

async function refuseMore(
  tx: Tx,
  createdBy: string | undefined,
  { prefix, ofOne, inAll }: GrantBounds,
): Promise<void> {
  const grants = await tx.one(GRANTS, [createdBy ?? '', `${prefix}%`])
  if (integer(grants, 'own') < ofOne && integer(grants, 'n') < inAll) return
  throw new AppError('too_many_keys', 'Too many programs have access: revoke one first')
}

export function createApiKeyWrites(dialect: Dialect, clock: Clock) {
  const remove = async (tx: Tx, statement: string, values: (string | number)[]) => {
    await dialect.exclude(tx, 'api-keys')
    const removed = await tx.run(statement, values)
    if (removed > 0) await dropOwnerless(tx)
    return removed > 0
  }

  return {
    async addKey(tx: Tx, key: StoredKey, most: number, grants?: GrantBounds): Promise<boolean> {
      await dialect.exclude(tx, 'api-keys')
      const { createdBy, createdByPerson } = key
      if (createdBy !== undefined && !(await tx.one(KEY_EXISTS, [createdBy]))) return false
      if (createdByPerson !== undefined && !(await tx.one(PERSON_EXISTS, [createdByPerson]))) {
        return false
      }
      if (integer(await tx.one('SELECT count(*) AS n FROM api_keys'), 'n') >= most) {
        const message = `There are ${most} keys already: revoke one first`
        throw new AppError('too_many_keys', message)
      }
      if (grants) await refuseMore(tx, createdBy, grants)
      await insertInto(tx, 'api_keys', writeAll(KEY, key))
      await reserveNames(tx, dialect, key.collections ?? [])
      return true
    },

    async renewKey(
      tx: Tx,
      id: string,
      digest: string,
      next: Pick<StoredKey, 'digest' | 'expiresAt'>,
    ): Promise<boolean> {
      await dialect.exclude(tx, 'api-keys')
      return (await tx.run(RENEW, [id, digest, next.digest, next.expiresAt ?? null])) > 0
    },

    removeKey: (tx: Tx, id: string): Promise<boolean> => remove(tx, REMOVE, [id]),

    removeOldKey: async (tx: Tx, id: string, milliseconds: number): Promise<boolean> =>
      (await clock.isTrusted(tx)) && remove(tx, REMOVE_OLD, [id, milliseconds]),

    async addKeyUse(tx: Tx, uses: readonly KeyUse[]): Promise<void> {
      await dialect.exclude(tx, 'api-keys')
      for (const { id, lastUsedAt } of uses) await tx.run(ADD_USE, [id, lastUsedAt])
    },
  }
}
