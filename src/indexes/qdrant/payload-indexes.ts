import type { ChunkMetadata, IndexQuery } from '../chunk-index.ts'
import type { MemoryPlacement } from '../qdrant-settings.ts'
import type { Collections } from './collections.ts'
import { QdrantRefusal, unavailable } from './connection.ts'
import { rangeKeysOf } from './payload.ts'

/** Each takes memory and files in every segment; ranges of what has none are resolved by the document store. */
const MAX_INDEXES = 128

export type PayloadIndexes = ReturnType<typeof createPayloadIndexes>

/** The payload indexes of one collection: a filter is sent to Qdrant only where all that it looks at has one. */
export function createPayloadIndexes(
  collections: Pick<Collections, 'index' | 'indexed'>,
  collection: string,
  memory: MemoryPlacement,
) {
  const held = new Set<string>()
  const making = new Map<string, Promise<void>>()

  const lacks = (keys: readonly string[]) => keys.some((key) => !held.has(key))
  const look = async (signal?: AbortSignal) => {
    for (const key of await collections.indexed(collection, signal)) held.add(key)
  }

  const make = async (field_name: string) => {
    await collections.index(collection, { field_name, field_schema: { type: 'float', memory } })
    held.add(field_name)
  }

  const makeOnce = async (key: string) => {
    if (held.has(key) || held.size >= MAX_INDEXES) return
    const made = making.get(key) ?? make(key).finally(() => making.delete(key))
    making.set(key, made)
    await made
  }

  return {
    /** Makes those that ranges over this metadata take, before any point that has it is written. */
    async makeFor(metadata: ChunkMetadata = []) {
      const distinct = [...new Set(metadata)].flatMap((each) => (each ? rangeKeysOf(each) : []))
      const keys = [...new Set(distinct)]
      if (!lacks(keys)) return
      await look()
      for (const key of keys) await makeOnce(key)
    },

    /** Whether there is one for each of these keys. Another server may have made it since. */
    async hold(keys: readonly string[], signal?: AbortSignal) {
      if (lacks(keys)) await look(signal)
      return !lacks(keys)
    },

    /**
     * Passes on what a query is answered. Where Qdrant refuses its filter, another server has made the collection
     * anew since, without an index that nothing needed then: `index_unavailable`, and the next one is looked up anew.
     */
    async passOn<Answer>({ filter }: Pick<IndexQuery, 'filter'>, answer: Promise<Answer>) {
      try {
        return await answer
      } catch (error) {
        if (!filter || !(error instanceof QdrantRefusal)) throw error
        held.clear()
        throw unavailable('The search index has just been made anew', error)
      }
    },

    /** The collection is another one now. */
    forget: () => held.clear(),
  }
}
