import { refuseChanged } from '@agent-server/lib/changed-lists.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import { MAX_ACCESS } from '@agent-server/schemas/access.ts'
import type {
  Collection,
  CollectionList,
  CollectionPatch,
  Lists,
  NewCollection,
} from '@agent-server/schemas/collection.ts'
import { CollectionName, refuseOther, within } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, checkScope } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import {
  type CollectionStore,
  type DocumentLookup,
  type DocumentStore,
  MAX_SHARED,
  type Role,
  type RoleLists,
  type StoredCollection,
} from '@agent-server/stores'

interface Dependencies {
  store: CollectionStore
  documents: Pick<DocumentStore, 'countListed'>
  lookup: Pick<DocumentLookup, 'collections' | 'countDocuments'>
}

export type SharedCollections = ReturnType<ReturnType<typeof createSharedCollections>>

/** What a caller sees of collections, and its roles in them. */
function createSeen({ store, lookup }: Omit<Dependencies, 'documents'>, caller: Caller) {
  const visibility = forCaller(caller)
  const { rights } = visibility
  const isWithinKey = (name: string) => caller.collections?.includes(name) ?? true
  /** Undefined for whoever rights do not concern. */
  const roles = async (): Promise<ReadonlyMap<string, Role> | undefined> =>
    rights === 'all' ? undefined : store.rolesOf(rights.principals)

  const all = async (signal: AbortSignal): Promise<Collection[]> => {
    const [inDefault, sizes, stored, own] = await Promise.all([
      lookup.countDocuments(visibility, within({ collection: DEFAULT_COLLECTION }), signal),
      lookup.collections(visibility, MAX_SHARED, signal),
      store.list(),
      roles(),
    ])
    const served = new Map(
      sizes.flatMap(({ name, documents }) =>
        CollectionName.safeParse(name).success ? [[name, documents]] : [],
      ),
    )
    if (inDefault > 0) served.set(DEFAULT_COLLECTION, inDefault)
    const seen = stored.filter(({ name }) => isWithinKey(name) && (own?.has(name) ?? true))
    const rows = new Map(seen.map((row) => [row.name, row]))
    const others = own && isWithinKey(DEFAULT_COLLECTION) ? [DEFAULT_COLLECTION] : []
    const names = [...new Set([...served.keys(), ...rows.keys(), ...others])]
    return names
      .map((name) =>
        toCollection({ name, documents: served.get(name) ?? 0, row: rows.get(name), own }),
      )
      .sort(inListOrder)
  }
  /** Throws `collection_not_found`. */
  const get = async (name: string, signal: AbortSignal): Promise<Collection> => {
    const [documents, stored, own] = await Promise.all([
      lookup.countDocuments(visibility, within({ collection: name }), signal),
      store.get(name),
      roles(),
    ])
    const row = isWithinKey(name) && (own?.has(name) ?? true) ? stored : undefined
    const isTheirDefault = own !== undefined && name === DEFAULT_COLLECTION && isWithinKey(name)
    if (documents > 0 || row || isTheirDefault) return toCollection({ name, documents, row, own })
    throw new AppError('collection_not_found', `There is no collection "${name}"`, {
      param: 'name',
    })
  }
  /** Throws `collection_not_found`, and `not_permitted` for others than its owners. */
  const getOwn = async (name: string, signal: AbortSignal) => {
    const collection = await get(name, signal)
    if (rights === 'all' || collection.role === 'owner') return collection
    throw notPermitted(`Only owners of the collection "${name}" and administrators may do this`)
  }
  return { visibility, isWithinKey, roles, all, get, getOwn }
}

/** The collections that a caller may see and change, and what it may add to. */
export function createSharedCollections({ store, documents, lookup }: Dependencies) {
  return (caller: Caller) => {
    const seen = createSeen({ store, lookup }, caller)
    const { visibility, isWithinKey, roles, all, get, getOwn } = seen
    const { rights } = visibility
    /** A key needs more to change whom a collection is shared with than to put documents into it. */
    const checkLists = async (name: string) => {
      if (rights === 'all' && (await store.get(name))) checkScope(caller, 'admin')
    }
    return {
      roles,
      /** The names to which documents may be added; undefined for any. */
      async writable(): Promise<readonly string[] | undefined> {
        const own = await roles()
        if (!own) return caller.collections
        const names = [...own].flatMap(([name, role]) => (role === 'reader' ? [] : [name]))
        return [...new Set([DEFAULT_COLLECTION, ...names])].filter(isWithinKey)
      },
      /** The names that a person may see; undefined for whoever rights do not concern. */
      async names(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
        if (rights === 'all') return undefined
        return new Set((await all(signal)).map(({ name }) => name))
      },
      /** Throws `collection_not_found`, and `not_permitted`, for a person who does not own it. */
      async requireOwner(name: string, signal: AbortSignal): Promise<void> {
        if (rights !== 'all') await getOwn(name, signal)
      },
      /**
       * Makes a person the owner of a new collection. Returns whether the caller may add documents to it. Throws
       * `collection_not_allowed` outside of the collections of its key.
       */
      async claim(name: string): Promise<boolean> {
        refuseOther(name, caller.collections)
        if (rights === 'all') return true
        const role = (await roles())?.get(name) ?? 'reader'
        return role !== 'reader' || addIfFree(store, name, rights.person)
      },
      /**
       * Ends that a person owns a collection, so that it no longer counts as one of theirs. For others the name stays
       * reserved: nobody but them may give it to anybody.
       */
      async release(name: string): Promise<void> {
        if (rights !== 'all') await store.remove(name)
      },
      /**
       * Who may read a document of it without `access` that the caller takes out to `default`: whoever could before,
       * instead of whoever reads that. Undefined if people share neither.
       */
      async readersOutside(name: string): Promise<string[] | undefined> {
        const [row, role] = [await store.get(name), (await roles())?.get(name)]
        if (!row) return (await store.get(DEFAULT_COLLECTION)) && []
        // Contributors are not told who the others are.
        if (rights !== 'all' && role !== 'owner') return []
        const { owner, contributor, reader } = row.lists
        const readers = [...new Set([...owner, ...contributor, ...reader])]
        return (readers.length <= MAX_ACCESS ? readers : [...owner]).sort()
      },
      list: async (signal: AbortSignal): Promise<CollectionList> => ({
        collections: await all(signal),
      }),
      get,
      async create({ name, ...lists }: NewCollection, signal: AbortSignal): Promise<Collection> {
        await caller.verify()
        refuseOther(name, caller.collections)
        const creator = caller.person?.id
        const owner = rights === 'all' ? [] : [rights.person]
        const owners = [...new Set([...(lists.owners ?? []), ...owner])].sort()
        const all = { reader: [], contributor: [], ...toLists({ ...lists, owners }), owner: owners }
        await store.add({ name, creator, lists: all }, rights === 'all')
        return get(name, signal)
      },
      async patch(name: string, patch: CollectionPatch, signal: AbortSignal): Promise<Collection> {
        await caller.verify()
        await getOwn(name, signal)
        await checkLists(name)
        if (rights !== 'all' && patch.owners?.length === 0) {
          throw refusal('owners', 'must not be empty: somebody has to be able to change this')
        }
        const lists = toLists(patch)
        const changed = await store.change(name, lists, toLists(patch.expected ?? {}))
        // One that exists by its documents alone, which only those see whom rights do not concern.
        if (!changed && rights === 'all') {
          refuseChanged('access', [], patch.expected?.access)
          refuseChanged('contributors', [], patch.expected?.contributors)
          refuseChanged('owners', [], patch.expected?.owners)
          const none = { reader: [], contributor: [], owner: [] }
          await store.add({ name, creator: undefined, lists: { ...none, ...lists } }, true)
        }
        return get(name, signal)
      },
      /** Throws `collection_not_empty` if the caller sees documents in it; what others alone see stays theirs. */
      async remove(name: string, signal: AbortSignal): Promise<void> {
        await caller.verify()
        await getOwn(name, signal)
        await checkLists(name)
        const filter = within({ collection: name })
        const count = await documents.countListed(visibility, { filter }, signal)
        if (count > 0) {
          const message = `The collection "${name}" has ${counted(count, 'document')}: delete or move ${count === 1 ? 'it' : 'them'} first`
          throw new AppError('collection_not_empty', message, { param: 'name' })
        }
        await store.remove(name)
      },
    }
  }
}

async function addIfFree(
  store: Pick<CollectionStore, 'add'>,
  name: string,
  person: string,
): Promise<boolean> {
  const lists = { reader: [], contributor: [], owner: [person] }
  try {
    await store.add({ name, creator: person, lists }, false)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'collection_exists') return false
    throw error
  }
}

interface Seen {
  name: string
  documents: number
  row: StoredCollection | undefined
  own: ReadonlyMap<string, Role> | undefined
}

function toCollection({ name, documents, row, own }: Seen): Collection {
  const role = own?.get(name) ?? (own && name === DEFAULT_COLLECTION ? 'contributor' : undefined)
  const { reader = [], contributor = [], owner = [] }: Partial<RoleLists> = row?.lists ?? {}
  return {
    name,
    documents,
    ...(role && { role }),
    ...(row && { createdAt: new Date(row.createdAt).toISOString() }),
    ...(row &&
      (!own || role === 'owner') && {
        ...(row.creator !== undefined && { creator: row.creator }),
        access: [...reader],
        contributors: [...contributor],
        owners: [...owner],
      }),
  }
}

function toLists({ access, contributors, owners }: Lists): Partial<RoleLists> {
  return {
    ...(access && { reader: access }),
    ...(contributors && { contributor: contributors }),
    ...(owners && { owner: owners }),
  }
}

/** The default one first, then those with the most documents. */
function inListOrder(a: Collection, b: Collection): number {
  const isDefault = ({ name }: Collection) => Number(name === DEFAULT_COLLECTION)
  const byName = a.name < b.name ? -1 : 1
  return isDefault(b) - isDefault(a) || b.documents - a.documents || byName
}

/** For what somebody sees, but may not change. */
export function notPermitted(message: string): AppError {
  return new AppError('not_permitted', message)
}
