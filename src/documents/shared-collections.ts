import { refuseChanged } from '@agent-server/lib/changed-lists.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
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

/** The collections that a caller may see and change, and what it may add to. */
export class SharedCollections {
  readonly #parts: Dependencies
  readonly #caller: Caller
  readonly #visibility: Visibility
  readonly #rights: Visibility['rights']

  constructor(parts: Dependencies, caller: Caller) {
    this.#parts = parts
    this.#caller = caller
    this.#visibility = forCaller(caller)
    this.#rights = this.#visibility.rights
  }

  /** The caller's, by the collections; undefined for whoever rights do not concern. */
  async roles(): Promise<Roles> {
    const rights = this.#rights
    return rights === 'all' ? undefined : this.#parts.store.rolesOf(rights.principals)
  }

  /** The names to which documents may be added; undefined for any. */
  async writable(): Promise<readonly string[] | undefined> {
    const own = await this.roles()
    if (!own) return this.#caller.collections
    const names = [...own].flatMap(([name, role]) => (role === 'reader' ? [] : [name]))
    return [...new Set([DEFAULT_COLLECTION, ...names])].filter((name) => this.#isWithinKey(name))
  }

  /** The names that a person may see; undefined for whoever rights do not concern. */
  async names(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    if (this.#rights === 'all') return undefined
    const { collections } = await this.list(signal)
    return new Set(collections.map(({ name }) => name))
  }

  /** Throws `collection_not_found`, and `not_permitted`, for a person who does not own it. */
  async requireOwner(name: string, signal: AbortSignal): Promise<void> {
    if (this.#rights !== 'all') await this.#checkOwn(name, signal)
  }

  /**
   * Makes a person the owner of a new collection. Returns whether the caller may add documents to it. Throws
   * `collection_not_allowed` outside of the collections of its key.
   */
  async claim(name: string): Promise<boolean> {
    refuseOther(name, this.#caller.collections)
    if (this.#rights === 'all') return true
    const role = (await this.roles())?.get(name) ?? 'reader'
    return role !== 'reader' || addIfFree(this.#parts.store, name, this.#rights.person)
  }

  /**
   * Ends that a person owns a collection, so that it no longer counts as one of theirs. For others the name stays
   * reserved: nobody but them may give it to anybody.
   */
  async release(name: string): Promise<void> {
    if (this.#rights !== 'all') await this.#parts.store.remove(name)
  }

  /**
   * Who may read a document of it without `access` that the caller takes out to `default`: whoever could before,
   * instead of whoever reads that. Undefined if people share neither.
   */
  async readersOutside(name: string): Promise<string[] | undefined> {
    const { store } = this.#parts
    const [row, role] = [await store.get(name), (await this.roles())?.get(name)]
    if (!row) return (await store.get(DEFAULT_COLLECTION)) && []
    // Contributors are not told who the others are.
    if (this.#rights !== 'all' && role !== 'owner') return []
    const { owner, contributor, reader } = row.lists
    const readers = [...new Set([...owner, ...contributor, ...reader])]
    return (readers.length <= MAX_ACCESS ? readers : [...owner]).sort()
  }

  async list(signal: AbortSignal): Promise<CollectionList> {
    const { store, lookup } = this.#parts
    const [inDefault, sizes, stored, own] = await Promise.all([
      lookup.countDocuments(this.#visibility, within({ collection: DEFAULT_COLLECTION }), signal),
      lookup.collections(this.#visibility, MAX_SHARED, signal),
      store.list(),
      this.roles(),
    ])
    const served = new Map(
      sizes.flatMap(({ name, documents }) =>
        CollectionName.safeParse(name).success ? [[name, documents]] : [],
      ),
    )
    if (inDefault > 0) served.set(DEFAULT_COLLECTION, inDefault)
    const rows = new Map(
      stored.filter(({ name }) => this.#isSeen(name, own)).map((row) => [row.name, row]),
    )
    const others = this.#isTheirDefault(DEFAULT_COLLECTION, own) ? [DEFAULT_COLLECTION] : []
    const names = [...new Set([...served.keys(), ...rows.keys(), ...others])]
    const collections = names.map((name) =>
      toCollection({ name, documents: served.get(name) ?? 0, row: rows.get(name), own }),
    )
    return { collections: collections.sort(inListOrder) }
  }

  /** Throws `collection_not_found`. */
  async get(name: string, signal: AbortSignal): Promise<Collection> {
    const { store, lookup } = this.#parts
    const [documents, stored, own] = await Promise.all([
      lookup.countDocuments(this.#visibility, within({ collection: name }), signal),
      store.get(name),
      this.roles(),
    ])
    const row = this.#isSeen(name, own) ? stored : undefined
    if (documents > 0 || row || this.#isTheirDefault(name, own)) {
      return toCollection({ name, documents, row, own })
    }
    throw new AppError('collection_not_found', `There is no collection "${name}"`, {
      param: 'name',
    })
  }

  async create({ name, ...lists }: NewCollection, signal: AbortSignal): Promise<Collection> {
    const { verify, collections, person } = this.#caller
    await verify()
    refuseOther(name, collections)
    const owner = this.#rights === 'all' ? [] : [this.#rights.person]
    const owners = [...new Set([...(lists.owners ?? []), ...owner])].sort()
    const all = { reader: [], contributor: [], ...toLists({ ...lists, owners }), owner: owners }
    const row = { name, creator: person?.id, lists: all }
    await this.#parts.store.add(row, this.#rights === 'all')
    return this.get(name, signal)
  }

  async patch(name: string, patch: CollectionPatch, signal: AbortSignal): Promise<Collection> {
    const { store } = this.#parts
    await this.#checkChange(name, signal)
    if (this.#rights !== 'all' && patch.owners?.length === 0) {
      throw refusal('owners', 'must not be empty: somebody has to be able to change this')
    }
    const lists = toLists(patch)
    const changed = await store.change(name, lists, toLists(patch.expected ?? {}))
    // One that exists by its documents alone, which only those see whom rights do not concern.
    if (!changed && this.#rights === 'all') {
      refuseChanged('access', [], patch.expected?.access)
      refuseChanged('contributors', [], patch.expected?.contributors)
      refuseChanged('owners', [], patch.expected?.owners)
      const none = { reader: [], contributor: [], owner: [] }
      await store.add({ name, creator: undefined, lists: { ...none, ...lists } }, true)
    }
    return this.get(name, signal)
  }

  /** Throws `collection_not_empty` if the caller sees documents in it; what others alone see stays theirs. */
  async remove(name: string, signal: AbortSignal): Promise<void> {
    const { store, documents } = this.#parts
    await this.#checkChange(name, signal)
    const filter = within({ collection: name })
    const count = await documents.countListed(this.#visibility, { filter }, signal)
    if (count > 0) {
      const message = `The collection "${name}" has ${counted(count, 'document')}: delete or move ${count === 1 ? 'it' : 'them'} first`
      throw new AppError('collection_not_empty', message, { param: 'name' })
    }
    await store.remove(name)
  }

  #isWithinKey(name: string): boolean {
    return this.#caller.collections?.includes(name) ?? true
  }

  /** Whether one that is stored may be seen. */
  #isSeen(name: string, own: Roles): boolean {
    return this.#isWithinKey(name) && (own?.has(name) ?? true)
  }

  /** Each person has the default collection, whether it is stored or not. */
  #isTheirDefault(name: string, own: Roles): boolean {
    return own !== undefined && name === DEFAULT_COLLECTION && this.#isWithinKey(name)
  }

  /** Throws `collection_not_found`, and `not_permitted` for others than its owners. */
  async #checkOwn(name: string, signal: AbortSignal): Promise<void> {
    const { role } = await this.get(name, signal)
    if (this.#rights === 'all' || role === 'owner') return
    throw notPermitted(`Only owners of the collection "${name}" and administrators may do this`)
  }

  async #checkChange(name: string, signal: AbortSignal): Promise<void> {
    await this.#caller.verify()
    await this.#checkOwn(name, signal)
    // A key needs more to change whom a collection is shared with than to put documents into it.
    const isShared = this.#rights === 'all' && (await this.#parts.store.get(name))
    if (isShared) checkScope(this.#caller, 'admin')
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

/** Undefined for whoever rights do not concern. */
type Roles = ReadonlyMap<string, Role> | undefined

interface Seen {
  name: string
  documents: number
  row: StoredCollection | undefined
  own: Roles
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
