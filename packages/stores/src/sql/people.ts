import {
  type LimitsChange,
  PEOPLE_BOUNDS,
  type PeopleBounds,
  type PeopleStore,
  type RemovedPerson,
  type SeenPerson,
  type SessionStore,
  type StoredPerson,
  type StoredSession,
} from '../people-store.ts'
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
import { decodeCursor, encodeCursor, isInteger } from './cursor.ts'
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
import { forgetUsageOf } from './usage.ts'

const PERSON: Columns<StoredPerson> = {
  id: plain('id', text),
  name: plain('name', optionalText),
  email: plain('email', optionalText),
  groups: json('groups', unchecked<readonly string[]>, []),
  firstSeenAt: plain('first_seen_at', integer),
  lastSeenAt: plain('last_seen_at', integer),
  tokensPerDay: plain('tokens_per_day', optionalInteger),
  costPerDay: optionalMoney('cost_per_day'),
}

const SESSION: Columns<StoredSession> = {
  mac: plain('mac', text),
  person: plain('person', text),
  name: plain('name', optionalText),
  groups: json('groups', unchecked<readonly string[]>, []),
  sealed: plain('sealed', text),
  subject: plain('subject', text),
  issuerSession: plain('issuer_session', optionalText),
  beganAt: plain('began_at', integer),
  usedAt: plain('used_at', integer),
  checkedAt: plain('checked_at', integer),
  knownAt: plain('known_at', integer),
}

const LIST_NAME = 'people'
const LIST = 'SELECT * FROM people WHERE number > $1 ORDER BY number LIMIT $2'
const THEIR_CONVERSATIONS = 'SELECT id FROM conversations WHERE owner = $1'
const THEIR_DOCUMENTS = `SELECT id FROM documents WHERE creator = $1 AND conversation IS NULL
  ORDER BY number LIMIT $2`
const MEASURE = `SELECT
  (SELECT count(*) FROM sessions WHERE person = $1) AS sessions,
  (SELECT count(*) FROM conversations WHERE owner = $1) AS conversations,
  (SELECT count(*) FROM documents WHERE conversation IN (${THEIR_CONVERSATIONS})) AS documents,
  (SELECT count(*) FROM feedback WHERE owner = $1) AS feedback,
  (SELECT count(*) FROM artifacts WHERE owner = $1) AS artifacts,
  (SELECT count(*) FROM api_keys WHERE created_by_person = $1) AS keys,
  (SELECT count(*) FROM mcp_accounts WHERE owner = $1) AS accounts,
  (SELECT count(*) FROM documents WHERE creator = $1 AND conversation IS NULL) AS handed_documents,
  (SELECT count(*) FROM collections WHERE creator = $1) AS handed_collections
  FROM people WHERE id = $1`

export function createPeopleReads(
  read: Read,
): Pick<PeopleStore, 'list' | 'find' | 'documentsOf' | 'measure'> {
  return {
    async list({ limit, cursor }) {
      const after = cursor === undefined ? 0 : decodeCursor(LIST_NAME, cursor, isInteger).number
      const rows = await read(LIST, [after, limit + 1])
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        people: page.map((row) => readAll(PERSON, row)),
        nextCursor: last && encodeCursor(LIST_NAME, { key: 0, number: integer(last, 'number') }),
      }
    },
    find: (id) =>
      readOne(read, 'SELECT * FROM people WHERE id = $1', [id], (row) => readAll(PERSON, row)),
    documentsOf: async (id, limit) =>
      (await read(THEIR_DOCUMENTS, [id, limit])).map((row) => text(row, 'id')),
    measure: (id) => readOne(read, MEASURE, [id], toRemoved),
  }
}

const toRemoved = (row: Row): RemovedPerson => ({
  sessions: integer(row, 'sessions'),
  conversations: integer(row, 'conversations'),
  documents: integer(row, 'documents'),
  feedback: integer(row, 'feedback'),
  artifacts: integer(row, 'artifacts'),
  handedOn: {
    documents: integer(row, 'handed_documents'),
    collections: integer(row, 'handed_collections'),
  },
  keys: integer(row, 'keys'),
  accounts: integer(row, 'accounts'),
})

export function createSessionReads(read: Read): Pick<SessionStore, 'find'> {
  return {
    find: (mac) =>
      readOne(read, 'SELECT * FROM sessions WHERE mac = $1', [mac], (row) => readAll(SESSION, row)),
  }
}

/** What keeps a person known, by the column that names them. */
const OWNED = [
  ['sessions', 'person'],
  ['documents', 'creator'],
  ['collections', 'creator'],
  ['conversations', 'owner'],
  ['feedback', 'owner'],
  ['artifacts', 'owner'],
  ['mcp_accounts', 'owner'],
  ['api_keys', 'created_by_person'],
] as const

const SEE_AGAIN = `ON CONFLICT (id) DO UPDATE SET name = COALESCE(excluded.name, people.name),
  email = COALESCE(excluded.email, people.email),
  groups = excluded.groups, last_seen_at = excluded.last_seen_at`
/** Each new subject of the issuer is a row: those of whom nothing else is kept go, the least recently seen first. */
const FORGET_PEOPLE = `DELETE FROM people WHERE id IN (
  SELECT id FROM people WHERE id <> $1 AND last_seen_at <= $2
    AND tokens_per_day IS NULL AND cost_per_day IS NULL
    ${OWNED.map(([table, owner]) => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE ${owner} = people.id)`).join('\n    ')}
  ORDER BY last_seen_at, number LIMIT $3)
  AND last_seen_at <= $2 AND tokens_per_day IS NULL AND cost_per_day IS NULL`
/** At a time, so that nobody waits long. */
const MOST_FORGOTTEN = 10
const TOO_MANY_OF_PERSON = `DELETE FROM sessions WHERE mac IN (
  SELECT mac FROM sessions WHERE person = $1 ORDER BY began_at DESC, mac LIMIT 100 OFFSET $2)`
export const TOO_MANY = `DELETE FROM sessions WHERE mac IN (
  SELECT mac FROM sessions ORDER BY used_at DESC, mac DESC LIMIT 100 OFFSET $1)`
const RENEW = `UPDATE sessions SET name = $2, groups = $3, sealed = $4, known_at = $5 WHERE mac = $1`
export const REMOVE_OF = `DELETE FROM sessions WHERE issuer_session = $1
  OR subject = $2 AND (CAST($1 AS text) IS NULL OR issuer_session IS NULL)`

export function createPeopleWrites(dialect: Dialect) {
  return {
    ...PEOPLE_WRITES,

    /** Documents that belong to conversations alone have to be gone: the index forgets them, too. */
    async removePerson(tx: Tx, id: string, heir?: string): Promise<void> {
      // A run of theirs that is stored after that finds no person.
      await dialect.exclude(tx, 'runs')
      for (const table of ['documents', 'collections']) {
        await tx.run(`UPDATE ${table} SET creator = $2 WHERE creator = $1`, [id, heir])
      }
      await tx.run('DELETE FROM collection_access WHERE principal = $1', [id])
      for (const table of ['feedback', 'conversations', 'artifacts', 'runs']) {
        await tx.run(`DELETE FROM ${table} WHERE owner = $1`, [id])
      }
      await forgetUsageOf(tx, dialect, id)
      await tx.run('DELETE FROM people WHERE id = $1', [id])
      // After the person, for whom the adding of an account waits.
      await tx.run('DELETE FROM mcp_accounts WHERE owner = $1', [id])
      // Their keys go along.
      await dropOwnerless(tx)
    },
  }
}

const PEOPLE_WRITES = {
  async seePerson(
    tx: Tx,
    seen: SeenPerson,
    { most, unseenMs }: PeopleBounds = PEOPLE_BOUNDS,
  ): Promise<void> {
    const now = integer(await tx.one('SELECT now_ms() AS now'), 'now')
    const person = { ...seen, firstSeenAt: now, lastSeenAt: now }
    const known = await tx.one('SELECT id FROM people WHERE id = $1', [seen.id])
    await insertInto(tx, 'people', writeAll(PERSON, person), SEE_AGAIN)
    if (known) return
    await tx.run(FORGET_PEOPLE, [seen.id, now - unseenMs, MOST_FORGOTTEN])
    const excess = integer(await tx.one('SELECT count(*) AS n FROM people'), 'n') - most
    if (excess > 0) {
      await tx.run(FORGET_PEOPLE, [seen.id, now, Math.min(excess, MOST_FORGOTTEN)])
    }
  },

  async limitPerson(tx: Tx, id: string, limits: LimitsChange): Promise<StoredPerson | undefined> {
    const { tokensPerDay, costPerDay } = limits
    const values = {
      ...(tokensPerDay !== undefined && { tokens_per_day: tokensPerDay }),
      ...(costPerDay !== undefined && {
        cost_per_day: PERSON.costPerDay.write(costPerDay ?? undefined) ?? null,
      }),
    }
    // Somebody else may set the other one at the same time.
    const set = Object.keys(values).map((name, i) => `${name} = $${i + 2}`)
    const statement =
      set.length === 0
        ? 'SELECT * FROM people WHERE id = $1'
        : `UPDATE people SET ${set.join(', ')} WHERE id = $1 RETURNING *`
    const row = await tx.one(statement, [id, ...Object.values(values)])
    return row && readAll(PERSON, row)
  },

  async addSession(
    tx: Tx,
    session: StoredSession,
    most: { perPerson: number; inAll: number },
  ): Promise<void> {
    const { person: id, name, groups, beganAt: at } = session
    const person = { id, name, email: undefined, groups, firstSeenAt: at, lastSeenAt: at }
    await insertInto(tx, 'people', writeAll(PERSON, person), 'ON CONFLICT (id) DO NOTHING')
    await insertInto(tx, 'sessions', writeAll(SESSION, session))
    await tx.run(TOO_MANY_OF_PERSON, [session.person, most.perPerson])
    await tx.run(TOO_MANY, [most.inAll])
  },

  async useSession(tx: Tx, mac: string, usedAt: number): Promise<void> {
    await tx.run('UPDATE sessions SET used_at = $2 WHERE mac = $1 AND used_at < $2', [mac, usedAt])
  },

  async claimSessionCheck(tx: Tx, mac: string, seen: number, now: number): Promise<boolean> {
    const statement = 'UPDATE sessions SET checked_at = $3 WHERE mac = $1 AND checked_at = $2'
    return (await tx.run(statement, [mac, seen, now])) > 0
  },

  async renewSession(
    tx: Tx,
    mac: string,
    { name, groups, sealed, knownAt }: Parameters<SessionStore['renew']>[1],
  ): Promise<boolean> {
    return (await tx.run(RENEW, [mac, name, JSON.stringify(groups), sealed, knownAt])) > 0
  },

  async removeSession(tx: Tx, mac: string): Promise<void> {
    await tx.run('DELETE FROM sessions WHERE mac = $1', [mac])
  },

  async removeOldSessions(
    tx: Tx,
    { beganAt, usedAt }: Pick<StoredSession, 'beganAt' | 'usedAt'>,
  ): Promise<void> {
    await tx.run('DELETE FROM sessions WHERE began_at < $1 OR used_at < $2', [beganAt, usedAt])
  },

  async removeSessionsOf(
    tx: Tx,
    { issuerSession, subject }: Parameters<SessionStore['removeOf']>[0],
  ): Promise<void> {
    await tx.run(REMOVE_OF, [issuerSession, subject])
  },
}
