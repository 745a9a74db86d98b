import { AppError } from '@agent-server/lib/errors.ts'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import type {
  Collection,
  CollectionList,
  CollectionPatch,
  NewCollection,
} from '@agent-server/schemas/collection.ts'
import { refuseOther } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import {
  type CollectionStore,
  MAX_SHARED,
  type Role,
  type RoleLists,
  type StoredCollection,
} from '../stores/collection-store.ts'
import type { DocumentLookup } from '../stores/lookup.ts'

interface Dependencies {
  store: CollectionStore
  lookup: Pick<DocumentLookup, 'countByCollection'>
}

export type SharedCollections = ReturnType<ReturnType<typeof createSharedCollections>>

/** The collections that a caller may see and change, and what it may add to. */
export function createSharedCollections({ store, lookup }: Dependencies) {
  return (caller: Caller) => {
    const visibility = forCaller(caller)
    const { rights } = visibility
    const isWithinKey = (name: string) => caller.collections?.includes(name) ?? true
    /** Undefined for whoever rights do not concern. */
    const roles = async (): Promise<ReadonlyMap<string, Role> | undefined> =>
      rights === 'all' ? undefined : store.rolesOf(rights.principals)

    const all = async (signal: AbortSignal): Promise<Collection[]> => {
      const [counts, stored, own] = await Promise.all([
        lookup.countByCollection(visibility, MAX_SHARED, signal),
        store.list(),
        roles(),
      ])
      const documents = new Map(counts.map(({ name, documents }) => [name, documents]))
      const seen = stored.filter(({ name }) => isWithinKey(name) && (own?.has(name) ?? true))
      const rows = new Map(seen.map((row) => [row.name, row]))
      const others = own && isWithinKey(DEFAULT_COLLECTION) ? [DEFAULT_COLLECTION] : []
      const names = [...new Set([...documents.keys(), ...rows.keys(), ...others])].sort()
      return names.map((name) =>
        toCollection({ name, documents: documents.get(name) ?? 0, row: rows.get(name), own }),
      )
    }
    /** Throws `collection_not_found`. */
    const get = async (name: string, signal: AbortSignal): Promise<Collection> => {
      const one = (await all(signal)).find((each) => each.name === name)
      if (one) return one
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

    return {
      roles,
      /** The names to which documents may be added; undefined for any. */
      async writable(): Promise<readonly string[] | undefined> {
        const own = await roles()
        if (!own) return caller.collections
        const names = [...own].flatMap(([name, role]) => (role === 'reader' ? [] : [name]))
        return [...new Set([DEFAULT_COLLECTION, ...names])].filter(isWithinKey)
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
        if (rights !== 'all' && patch.owners?.length === 0) {
          throw refusal('owners', 'must not be empty: somebody has to be able to change this')
        }
        const lists = toLists(patch)
        const changed = await store.change(name, lists)
        // One that exists by its documents alone, which only those see whom rights do not concern.
        if (!changed && rights === 'all') {
          const none = { reader: [], contributor: [], owner: [] }
          await store.add({ name, creator: undefined, lists: { ...none, ...lists } }, true)
        }
        return get(name, signal)
      },
      /** Throws `collection_not_empty` if the caller sees documents in it; what others alone see stays theirs. */
      async remove(name: string, signal: AbortSignal): Promise<void> {
        await caller.verify()
        const { documents } = await getOwn(name, signal)
        if (documents > 0) {
          const message = `The collection "${name}" has ${documents} documents: delete or move them first`
          throw new AppError('collection_not_empty', message, { param: 'name' })
        }
        await store.remove(name)
      },
    }
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
    ...(row?.creator !== undefined && { creator: row.creator }),
    ...(row && { createdAt: new Date(row.createdAt).toISOString() }),
    ...(row &&
      (!own || role === 'owner') && {
        access: [...reader],
        contributors: [...contributor],
        owners: [...owner],
      }),
  }
}

function toLists({ access, contributors, owners }: CollectionPatch): Partial<RoleLists> {
  return {
    ...(access && { reader: access }),
    ...(contributors && { contributor: contributors }),
    ...(owners && { owner: owners }),
  }
}

/** For what somebody sees, but may not change. */
export function notPermitted(message: string): AppError {
  return new AppError('not_permitted', message)
}
