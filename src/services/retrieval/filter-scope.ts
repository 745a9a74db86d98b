import type { ChunkIndex, IndexQuery } from '../../indexes/chunk-index.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** How often a search is made anew where what it found was replaced before it could be read. */
const MAX_STALE = 3
/** The same, where what a filter takes was replaced before the index was asked about it. */
const MAX_SHORT = 3

/** What is searched among: all where it says nothing. */
export type Scope = Pick<IndexQuery, 'only' | 'filter'>

interface Outcome {
  /** Where the search looked. */
  scope: Scope
  /** Candidates that the document store did not hold. */
  missing: readonly number[]
  /** Whether there is less than was wanted, and deeper there is nothing more. */
  isShort: boolean
}

interface Dependencies {
  index: Pick<ChunkIndex, 'filters'>
  store: Pick<DocumentStore, 'matchingKeys'>
}

/** What the filter of one search takes, as documents come and go. */
export function createFilterScope(
  { index, store }: Dependencies,
  filter: Filter | undefined,
  signal?: AbortSignal,
) {
  const missed = new Set<number>()
  let stale = 0
  let short = 0

  /** The index looks among what a filter takes by itself where it can; otherwise the document store names the keys. */
  const resolve = async (): Promise<Scope> => {
    if (!filter) return {}
    if (await index.filters(filter, signal)) return { filter }
    return { only: await store.matchingKeys(filter, signal) }
  }

  return {
    resolve,

    /** Where to search once more; nothing where that would find the same, or there was enough. */
    async resolveAgain({ scope, missing, isShort }: Outcome): Promise<Scope | undefined> {
      // What replaces a chunk is in the index before that one leaves the document store. The same one missing twice
      // is none that was replaced meanwhile.
      const isStale = missing.some((key) => !missed.has(key))
      for (const key of missing) missed.add(key)
      if (isStale && stale++ < MAX_STALE) return resolve()
      if (!isShort || !scope.only || short++ >= MAX_SHORT) return undefined
      // The index may have forgotten what the filter took, and was not asked about what replaces it.
      const now = await resolve()
      return isSame(scope.only, now.only) ? undefined : now
    },
  }
}

function isSame(some: Uint32Array, others: Uint32Array | undefined): boolean {
  return some.length === others?.length && some.every((key, place) => key === others[place])
}
