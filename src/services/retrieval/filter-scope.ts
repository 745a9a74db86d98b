import type { ChunkIndex, IndexQuery } from '../../indexes/chunk-index.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** How often a search is made anew where what it found was replaced before it could be read. */
const FRESH_LOOKS = 1
/** The same, where what a filter takes was replaced before the index was asked about it. */
const FRESH_FILTERS = 3

/** What is searched among: all where it says nothing. */
type Among = Pick<IndexQuery, 'only' | 'filter'>

/** How one look went. */
interface Seen {
  among: Among
  /** Whether the document store did not hold a candidate. */
  isStale: boolean
  /** Whether there is less than was wanted, and deeper there is nothing more. */
  isShort: boolean
}

interface Dependencies {
  index: Pick<ChunkIndex, 'filters'>
  store: Pick<DocumentStore, 'matchingKeys'>
}

/** What one search looks among, as documents come and go. */
interface Narrowing {
  begin(): Promise<Among>
  /** What to look among anew; nothing where another look would find the same, or there were enough. */
  renew(seen: Seen): Promise<Among | undefined>
}

export function narrowSearch(
  { index, store }: Dependencies,
  filter: Filter | undefined,
  signal?: AbortSignal,
): Narrowing {
  let [looks, filters] = [FRESH_LOOKS, FRESH_FILTERS]

  /** The index looks among what a filter takes by itself where it can; otherwise the document store names the keys. */
  const begin = async (): Promise<Among> => {
    if (!filter) return {}
    if (await index.filters(filter, signal)) return { filter }
    return { only: await store.matchingKeys(filter, signal) }
  }

  return {
    begin,
    async renew({ among, isStale, isShort }) {
      // What replaces a chunk is in the index before that one leaves the document store.
      if (isStale && looks-- > 0) return begin()
      if (!isShort || !among.only || filters-- <= 0) return undefined
      // The index may have forgotten what the filter took, and was not asked about what replaces it.
      const now = await begin()
      return isSame(among.only, now.only) ? undefined : now
    },
  }
}

function isSame(some: Uint32Array, others: Uint32Array | undefined): boolean {
  return some.length === others?.length && some.every((key, place) => key === others[place])
}
