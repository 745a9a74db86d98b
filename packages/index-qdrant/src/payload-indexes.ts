import type { ChunkLabels, Scope } from '@agent-server/search'
import type { Collections } from './collections.ts'
import { QdrantRefusal, unavailable } from './connection.ts'
import { rangeKeysOf } from './payload.ts'
import type { MemoryPlacement } from './settings.ts'

/**
 * Each takes memory and files in every segment, and strict mode may allow fewer; the document store resolves ranges
 * over keys without an index.
 */
const MAX_INDEXES = 128

export type PayloadIndexes = ReturnType<typeof createPayloadIndexes>

/** The payload indexes of a collection: a filter is sent to Qdrant only if all its keys are indexed. */
export function createPayloadIndexes(
  collections: Pick<Collections, 'index' | 'indexed'>,
  collection: string,
  memory: MemoryPlacement,
) {
  const indexed = new Set<string>()
  let limit = MAX_INDEXES
  const pending = new Map<string, Promise<void>>()

  const lacks = (keys: readonly string[]) => keys.some((key) => !indexed.has(key))
  const look = async (signal?: AbortSignal) => {
    const { keys, allowed } = await collections.indexed(collection, signal)
    for (const key of keys) indexed.add(key)
    limit = Math.min(MAX_INDEXES, allowed)
  }

  const make = async (field_name: string) => {
    const field_schema = { type: 'float', memory } as const
    if (await collections.index(collection, { field_name, field_schema })) indexed.add(field_name)
  }

  const makeOnce = async (key: string) => {
    if (indexed.has(key) || indexed.size >= limit) return
    const creation = pending.get(key) ?? make(key).finally(() => pending.delete(key))
    pending.set(key, creation)
    await creation
  }

  return {
    /** Creates the indexes that ranges over these labels need; must be called before their points are written. */
    async makeFor(labels: ChunkLabels) {
      const distinct = [...new Set(labels)].flatMap((each) => (each ? rangeKeysOf(each) : []))
      const keys = [...new Set(distinct)]
      if (!lacks(keys)) return
      await look()
      for (const key of keys) await makeOnce(key)
    },

    /** Whether each of these keys has an index, possibly created by another server meanwhile. */
    async hold(keys: readonly string[], signal?: AbortSignal) {
      if (lacks(keys)) await look(signal)
      return !lacks(keys)
    },

    /**
     * Passes on the answer to a query. If Qdrant rejects its filter, another server has recreated the collection
     * without an index that this one still assumes: throws `index_unavailable`, and
     * later queries look up its indexes anew.
     */
    async passOn<Answer>({ visibility }: Scope, answer: Promise<Answer>) {
      try {
        return await answer
      } catch (error) {
        if (!visibility || !(error instanceof QdrantRefusal)) throw error
        indexed.clear()
        throw unavailable('The search index was just re-created', error)
      }
    },

    /** Must be called when the collection was replaced. */
    forget: () => indexed.clear(),
  }
}
