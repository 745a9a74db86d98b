import type { Metadata } from '../../schemas/metadata.ts'
import type { ChunkMetadata, IndexQuery } from '../chunk-index.ts'
import type { MemoryPlacement } from '../qdrant-settings.ts'
import type { Collections } from './collections.ts'
import { IS, rangeKeysOf } from './payload.ts'
import { QdrantRefusal, unavailable } from './qdrant-error.ts'

/** Each takes memory and files in every segment; ranges of what has none are resolved by the authority. */
const MOST_INDEXES = 128

/** The payload indexes of one collection: a filter is sent to Qdrant only where all that it looks at has one. */
export interface PayloadIndexes {
  /** Makes those that ranges over this metadata take, before any point that has it is written. */
  makeFor(metadata: ChunkMetadata | undefined): Promise<void>
  /** Whether there is one for each of these keys. Another server may have made it since. */
  hold(keys: readonly string[], signal?: AbortSignal): Promise<boolean>
  /**
   * Passes on what a query is answered. Where Qdrant refuses its filter, another server has made the collection
   * anew since, without an index that nothing needed then: `index_unavailable`, and the next one is looked up anew.
   */
  passOn<Answer>(query: Pick<IndexQuery, 'filter'>, answer: Promise<Answer>): Promise<Answer>
  /** The collection is another one now. */
  forget(): void
}

/** The index that every collection has from the beginning: the one for equal values. */
export function wordsIndex(memory: MemoryPlacement) {
  return { field_name: IS, field_schema: { type: 'keyword', memory } } as const
}

export function createPayloadIndexes(
  collections: Pick<Collections, 'index' | 'indexed'>,
  collection: string,
  memory: MemoryPlacement,
): PayloadIndexes {
  const held = new Set<string>()
  const making = new Map<string, Promise<void>>()

  const lacks = (keys: readonly string[]) => keys.some((key) => !held.has(key))
  const look = async (signal?: AbortSignal) => {
    for (const key of await collections.indexed(collection, signal)) held.add(key)
  }

  const make = async (key: string) => {
    const description = { field_name: key, field_schema: { type: 'float', memory } } as const
    await collections.index(collection, description)
    held.add(key)
  }

  const makeOnce = async (key: string) => {
    if (held.has(key) || held.size >= MOST_INDEXES) return
    const made = making.get(key) ?? make(key).finally(() => making.delete(key))
    making.set(key, made)
    await made
  }

  return {
    async makeFor(metadata) {
      const keys = rangeKeysIn(metadata)
      if (!lacks(keys)) return
      await look()
      for (const key of keys) await makeOnce(key)
    },

    async hold(keys, signal) {
      if (lacks(keys)) await look(signal)
      return !lacks(keys)
    },

    async passOn({ filter }, answer) {
      try {
        return await answer
      } catch (error) {
        if (!filter || !(error instanceof QdrantRefusal)) throw error
        held.clear()
        throw unavailable('The search index has just been made anew', error)
      }
    },

    forget: () => held.clear(),
  }
}

function rangeKeysIn(metadata: ChunkMetadata = []): string[] {
  const distinct = new Set<Metadata>()
  for (const each of metadata) if (each) distinct.add(each)
  return [...new Set([...distinct].flatMap(rangeKeysOf))]
}
