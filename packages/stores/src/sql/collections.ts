import { refuseChanged } from '@agent-server/lib/changed-lists.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import {
  type CollectionStore,
  MAX_OWN,
  MAX_SHARED,
  ROLES,
  type Role,
  type RoleLists,
  type StoredCollection,
} from '../collection-store.ts'
import { forgetAccess } from './access.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, oneOf, optionalText, type Read, type Row, type Tx, text } from './query.ts'

const COLLECTIONS = `SELECT name, creator, created_at, principal, role FROM collections
  LEFT JOIN collection_access ON collection = name`
const LIST = `${COLLECTIONS} ORDER BY name, principal`
const ONE = `${COLLECTIONS} WHERE name = $1 ORDER BY principal`
const IS_USED = `SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM reserved_collections WHERE name = $1)
  OR EXISTS (SELECT 1 FROM documents WHERE collection = $1)
  OR EXISTS (SELECT 1 FROM replacements WHERE collection = $1)`

const ADD = `INSERT INTO collections (name, creator, created_at)
  SELECT $1, $2, now_ms() WHERE true ON CONFLICT (name) DO NOTHING`

/** How clients call the list of a role. */
const FIELD_OF = { reader: 'access', contributor: 'contributors', owner: 'owners' } as const

/** Longer ones cannot be shared. */
const MAX_NAME = 64

/** Keeps the name for whoever put the document there, unless people share a collection of that name. */
export async function reserveForDocument(
  tx: Tx,
  dialect: Dialect,
  { collection }: { collection?: string | undefined },
): Promise<void> {
  if (collection === undefined || collection.length > MAX_NAME) return
  await dialect.exclude(tx, 'collections', 'shared')
  await tx.run(
    `INSERT INTO reserved_collections (name)
      SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM collections WHERE name = $1)
      ON CONFLICT (name) DO NOTHING`,
    [collection],
  )
}

/** Keeps names for keys, folders and administrators, whether or not anything is in collections of these names. */
export async function reserveNames(
  tx: Tx,
  dialect: Dialect,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await dialect.exclude(tx, 'collections', 'shared')
  const rows = names.map((_, i) => `($${i + 1})`).join(', ')
  const insert = `INSERT INTO reserved_collections (name) VALUES ${rows} ON CONFLICT (name) DO NOTHING`
  // In one order, so that no two transactions wait for each other.
  await tx.run({ unprepared: insert }, names.toSorted())
}

export function createCollectionReads(
  read: Read,
): Pick<CollectionStore, 'list' | 'get' | 'rolesOf'> {
  return {
    list: async () => toCollections(await read(LIST)),
    get: async (name) => toCollections(await read(ONE, [name]))[0],
    async rolesOf(principals) {
      const entries = principals.map((_, i) => `$${i + 1}`).join(', ')
      const unprepared = `SELECT collection, role FROM collection_access WHERE principal IN (${entries})`
      const roles = new Map<string, Role>()
      for (const row of await read({ unprepared }, principals)) {
        const [name, role] = [text(row, 'collection'), oneOf(ROLES, row, 'role')]
        const before = roles.get(name)
        if (!before || ROLES.indexOf(role) > ROLES.indexOf(before)) roles.set(name, role)
      }
      return roles
    },
  }
}

/** Whoever reserves a name, or adds a collection, excludes the other until it is stored. */
export function createCollectionWrites(dialect: Dialect) {
  const EXISTS = `SELECT 1 AS one FROM collections WHERE name = $1 ${dialect.locking()}`

  return {
    async addCollection(
      tx: Tx,
      { name, creator, lists }: Omit<StoredCollection, 'createdAt'>,
      takesOver: boolean,
    ): Promise<StoredCollection> {
      await dialect.exclude(tx, 'collections')
      if (!takesOver && (name === DEFAULT_COLLECTION || (await tx.one(IS_USED, [name])))) {
        throw collectionExists(name)
      }
      if ((await tx.run(ADD, [name, creator])) === 0) throw collectionExists(name)
      const total = integer(await tx.one('SELECT count(*) AS n FROM collections'), 'n')
      if (total > MAX_SHARED) {
        throw new AppError(
          'invalid_request',
          `There are ${MAX_SHARED} collections: delete one first`,
        )
      }
      if (takesOver) await reserveNames(tx, dialect, [name])
      else await refuseMore(tx, creator)
      return setLists(tx, name, lists)
    },

    changeCollection: async (
      tx: Tx,
      name: string,
      lists: Partial<RoleLists>,
      expected: Partial<RoleLists> = {},
    ): Promise<StoredCollection | undefined> => {
      if (!(await tx.one(EXISTS, [name]))) return undefined
      const [now] = toCollections(await tx.all(ONE, [name]))
      for (const role of ROLES)
        refuseChanged(FIELD_OF[role], now?.lists[role] ?? [], expected[role])
      return setLists(tx, name, lists)
    },

    reserveCollections: (tx: Tx, names: readonly string[]): Promise<void> =>
      reserveNames(tx, dialect, names),

    forgetAccess: (tx: Tx): Promise<void> => forgetAccess(tx, dialect),

    removeCollection: async (tx: Tx, name: string): Promise<boolean> =>
      (await tx.run('DELETE FROM collections WHERE name = $1', [name])) > 0,
  }
}

/** Adds a copy of one, before any document. A collection that is there already stays, with whom it is shared there. */
export async function restoreCollection(
  tx: Tx,
  dialect: Dialect,
  collection: StoredCollection,
): Promise<void> {
  await dialect.exclude(tx, 'collections', 'shared')
  const { name, creator, createdAt, lists } = collection
  const row = { name, creator, created_at: createdAt }
  const [added] = await insertInto(
    tx,
    'collections',
    row,
    'ON CONFLICT (name) DO NOTHING RETURNING name',
  )
  if (added) await setLists(tx, name, lists)
}

async function refuseMore(tx: Tx, creator: string | undefined): Promise<void> {
  const own = await tx.one('SELECT count(*) AS n FROM collections WHERE creator = $1', [creator])
  if (integer(own, 'n') <= MAX_OWN) return
  throw new AppError('invalid_request', `You have ${MAX_OWN} collections: delete one first`)
}

async function setLists(
  tx: Tx,
  collection: string,
  lists: Partial<RoleLists>,
): Promise<StoredCollection> {
  const roles = ROLES.filter((role) => lists[role])
  if (roles.length > 0) {
    const places = roles.map((_, i) => `$${i + 2}`).join(', ')
    const remove = `DELETE FROM collection_access WHERE collection = $1 AND role IN (${places})`
    await tx.run(remove, [collection, ...roles])
  }
  const entries = roles.flatMap((role) =>
    (lists[role] ?? []).flatMap((principal) => [principal, role]),
  )
  if (entries.length > 0) {
    const rows = entries.flatMap((_, i) => (i % 2 ? [] : [`($1, $${i + 2}, $${i + 3})`])).join(', ')
    const unprepared = `INSERT INTO collection_access (collection, principal, role) VALUES ${rows}`
    await tx.run({ unprepared }, [collection, ...entries])
  }
  const [stored] = toCollections(await tx.all(ONE, [collection]))
  if (!stored) throw new Error(`The collection ${collection} was not stored`)
  return stored
}

/** Rows of one collection follow each other. */
function toCollections(rows: readonly Row[]): StoredCollection[] {
  return [...Map.groupBy(rows, (row) => text(row, 'name')).values()].map((same) => {
    const listOf = (role: Role) =>
      same.filter((row) => row.role === role).map((row) => text(row, 'principal'))
    return {
      name: text(same[0], 'name'),
      creator: optionalText(same[0], 'creator'),
      createdAt: integer(same[0], 'created_at'),
      lists: {
        reader: listOf('reader'),
        contributor: listOf('contributor'),
        owner: listOf('owner'),
      },
    }
  })
}

function collectionExists(name: string): AppError {
  const message = `name: there is a collection "${name}" already: choose another name`
  return new AppError('collection_exists', message, { param: 'name' })
}
