import type { ChunkIndex, IndexQuery } from '../../indexes/chunk-index.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** How often a search is repeated because chunks it found were replaced before they could be read. */
const MAX_STALE = 3
/** How often it is repeated because chunks that the filter matched were replaced before the index was asked. */
const MAX_SHORT = 3

/** What a search is restricted to; empty means everything. */
export type Scope = Pick<IndexQuery, 'only' | 'filter'>

interface Outcome {
  /** Where the search looked. */
  scope: Scope
  /** Candidates that the document store did not hold. */
  missing: readonly number[]
  /** Whether fewer chunks were found than wanted and a deeper search would find no more. */
  isShort: boolean
}

interface Dependencies {
  index: Pick<ChunkIndex, 'filters'>
  store: Pick<DocumentStore, 'matchingKeys'>
}

/** Resolves the filter of one search to a scope, again if documents change meanwhile. */
export function createFilterScope(
  { index, store }: Dependencies,
  filter: Filter | undefined,
  signal?: AbortSignal,
) {
  const missed = new Set<number>()
  let stale = 0
  let short = 0

  /** The index applies the filter itself if it can; otherwise the document store lists the matching keys. */
  const resolve = async (): Promise<Scope> => {
    if (!filter) return {}
    if (await index.filters(filter, signal)) return { filter }
    return { only: await store.matchingKeys(filter, signal) }
  }

  return {
    resolve,

    /** The scope to search again; undefined if that would find the same or enough was found. */
    async resolveAgain({ scope, missing, isShort }: Outcome): Promise<Scope | undefined> {
      // A replacement is in the index before the old chunk leaves the document store, so searching again finds it.
      // A key that is missing for the second time was not replaced in between.
      const isStale = missing.some((key) => !missed.has(key))
      for (const key of missing) missed.add(key)
      if (isStale && stale++ < MAX_STALE) return resolve()
      if (!isShort || !scope.only || short++ >= MAX_SHORT) return undefined
      // The index may have dropped chunks in the scope, whose replacements were not part of it.
      const now = await resolve()
      return isSame(scope.only, now.only) ? undefined : now
    },
  }
}

function isSame(some: Uint32Array, others: Uint32Array | undefined): boolean {
  return some.length === others?.length && some.every((key, place) => key === others[place])
}
