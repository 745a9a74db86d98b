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
import { insertInto } from './columns.ts'
import { integer, oneOf, optionalText, type Read, type Row, type Tx, text } from './query.ts'

const COLLECTIONS = `SELECT name, creator, created_at, principal, role FROM collections
  LEFT JOIN collection_access ON collection = name`
const LIST = `${COLLECTIONS} ORDER BY name, principal`
const ONE = `${COLLECTIONS} WHERE name = $1 ORDER BY principal`
const IS_USED = `SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM reserved_collections WHERE name = $1)
  OR EXISTS (SELECT 1 FROM documents WHERE collection = $1)
  OR EXISTS (SELECT 1 FROM replacements WHERE collection = $1)`

/** Longer ones cannot be shared. */
const MAX_NAME = 64

/** Keeps the name for whoever put the document there, unless people share a collection of that name. */
export async function reserveForDocument(
  tx: Tx,
  { collection }: { collection?: string | undefined },
): Promise<void> {
  if (collection === undefined || collection.length > MAX_NAME) return
  await tx.run(
    `INSERT INTO reserved_collections (name)
      SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM collections WHERE name = $1)
      ON CONFLICT (name) DO NOTHING`,
    [collection],
  )
}

/** Keeps names for keys, folders and administrators, whether or not anything is in collections of these names. */
export async function reserveNames(tx: Tx, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const rows = names.map((_, i) => `($${i + 1})`).join(', ')
  const insert = `INSERT INTO reserved_collections (name) VALUES ${rows} ON CONFLICT (name) DO NOTHING`
  await tx.run({ unprepared: insert }, names)
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

export const COLLECTION_WRITES = {
  async addCollection(
    tx: Tx,
    { name, creator, lists }: Omit<StoredCollection, 'createdAt'>,
    takesOver: boolean,
  ): Promise<StoredCollection> {
    const taken = !takesOver && (name === DEFAULT_COLLECTION || (await tx.one(IS_USED, [name])))
    const values = 'SELECT $1, $2, now_ms()'
    const added = await tx.run(
      `INSERT INTO collections (name, creator, created_at) ${values} WHERE true ON CONFLICT (name) DO NOTHING`,
      [name, creator],
    )
    if (taken || added === 0) throw collectionExists(name)
    const total = integer(await tx.one('SELECT count(*) AS n FROM collections'), 'n')
    if (total > MAX_SHARED) {
      throw new AppError('invalid_request', `There are ${MAX_SHARED} collections: delete one first`)
    }
    if (takesOver) await reserveNames(tx, [name])
    else await refuseMore(tx, creator)
    return setLists(tx, name, lists)
  },

  async changeCollection(
    tx: Tx,
    name: string,
    lists: Partial<RoleLists>,
  ): Promise<StoredCollection | undefined> {
    const exists = await tx.run('UPDATE collections SET name = name WHERE name = $1', [name])
    return exists > 0 ? setLists(tx, name, lists) : undefined
  },

  reserveCollections: reserveNames,

  removeCollection: async (tx: Tx, name: string): Promise<boolean> =>
    (await tx.run('DELETE FROM collections WHERE name = $1', [name])) > 0,
}

/** Adds a copy of one, before any document. A collection that is there already stays, with whom it is shared there. */
export async function restoreCollection(tx: Tx, collection: StoredCollection): Promise<void> {
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
  for (const role of ROLES) {
    const entries = lists[role]
    if (!entries) continue
    await tx.run('DELETE FROM collection_access WHERE collection = $1 AND role = $2', [
      collection,
      role,
    ])
    for (const principal of entries) {
      await insertInto(tx, 'collection_access', { collection, principal, role })
    }
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
