/** What clients of vector stores call collections, where that is another name than the collection's own. */
export interface CollectionNames {
  list(): Promise<ReadonlyMap<string, string>>
  /** Undefined forgets the name. Throws `invalid_request` for more than `MAX_NAMES`. */
  set(collection: string, name: string | undefined): Promise<void>
}

export const MAX_NAMES = 1_000
