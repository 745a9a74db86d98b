import type { Owner } from '@agent-server/lib/limiter.ts'

/** What clients of vector stores call collections, where that is another name than the collection's own. */
export interface CollectionNames {
  list(): Promise<ReadonlyMap<string, string>>
  /**
   * Undefined forgets the name. Throws `invalid_request` for more than `MAX_NAMES` in all, or more of one owner than are
   * free for others; the operator has no owner.
   */
  set(collection: string, name: string | undefined, owner: Owner): Promise<void>
}

export const MAX_NAMES = 1_000
