/** What a person may do in a collection; each role may do what those before it may. */
export const ROLES = ['reader', 'contributor', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Whom each role is given to: `user:<id>`, `group:<id>` or `public`. */
export type RoleLists = Readonly<Record<Role, readonly string[]>>

/** A collection that people share. Others exist by the documents in them alone. */
export interface StoredCollection {
  name: string
  /** The person who created it. */
  creator: string | undefined
  createdAt: number
  lists: RoleLists
}

/** What rights to collections are given by; which documents follow from them, the queries for documents say. */
export interface CollectionStore {
  list(): Promise<StoredCollection[]>
  get(name: string): Promise<StoredCollection | undefined>
  /** The highest role in each collection of somebody whom these entries include. */
  rolesOf(principals: readonly string[]): Promise<ReadonlyMap<string, Role>>
  /**
   * Throws `collection_exists` if there is one, or if it is the default one, or documents are in one of that name, or the name is reserved, unless
   * they are taken over; and `invalid_request` for more than `MAX_SHARED`, or `MAX_OWN` of one person's.
   */
  add(
    collection: Omit<StoredCollection, 'createdAt'>,
    takesOver: boolean,
  ): Promise<StoredCollection>
  /**
   * Keeps names for keys, folders and administrators, also while nothing is in a collection of that name. Those that
   * `add` takes over, and those of documents in no shared collection, are kept like that, too.
   */
  reserve(names: readonly string[]): Promise<void>
  /**
   * Replaces the lists that are given. Returns undefined if there is no such collection. Throws `edit_conflict`, with
   * nothing changed, unless the lists are as `expected`.
   */
  change(
    name: string,
    lists: Partial<RoleLists>,
    expected?: Partial<RoleLists>,
  ): Promise<StoredCollection | undefined>
  /** Documents that are in it stay. Returns whether it existed. */
  remove(name: string): Promise<boolean>
  /** Forgets the lists of readers that documents had and none has any more. */
  forgetAccess(): Promise<void>
}

export const MAX_SHARED = 10_000
/** So that one person cannot use up what all have. */
export const MAX_OWN = 200
