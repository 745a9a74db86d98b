import type { FieldCondition, Filter, Metadata } from '../../schemas/metadata.ts'
import type { ChunkMetadata, IndexQuery } from '../chunk-index.ts'
import type { MemoryPlacement } from '../qdrant-settings.ts'
import type { Collections } from './collections.ts'
import { QdrantRefusal, unavailable } from './connection.ts'
import { canBeBound, IS, numberKey, orderKey, orderOf, rangeKeysOf, wordOf } from './payload.ts'

/** A condition of Qdrant's, or a filter made of them. */
export type PayloadCondition = Readonly<Record<string, unknown>>

const BOUNDS = ['gt', 'gte', 'lt', 'lte'] as const
type BoundName = (typeof BOUNDS)[number]

/** The keys of the payload that the ranges of a filter look at. Nothing where it compares with a string that is too long for that. */
export function rangeKeysIn(filter: Filter): string[] | undefined {
  const conditions = conditionsOf(filter)
  if (conditions.flatMap(textBounds).some(({ text }) => !canBeBound(text))) return undefined
  const keys = conditions.flatMap((condition) => {
    const texts = textBounds(condition)
    const places = texts.flatMap(({ text }) => orderOf(text).map((_, place) => place))
    return [
      ...(numberRange(condition) ? [numberKey(condition.field)] : []),
      ...places.map((place) => orderKey(condition.field, place)),
    ]
  })
  return [...new Set(keys)]
}

/** The same filter, over the payload of points. Throws `RangeError` where it compares with a string that is too long for that. */
export function toPayloadFilter(filter: Filter): PayloadCondition {
  if ('and' in filter) return { must: filter.and.map(toPayloadFilter) }
  if ('or' in filter) return { should: filter.or.map(toPayloadFilter) }
  if ('not' in filter) return { must_not: [toPayloadFilter(filter.not)] }
  return { must: fieldConditions(filter) }
}

function fieldConditions(condition: FieldCondition): PayloadCondition[] {
  const { field, eq, in: among } = condition
  const range = numberRange(condition)
  return [
    ...(eq === undefined ? [] : [{ key: IS, match: { value: wordOf(field, eq) } }]),
    ...(among === undefined ? [] : [isOneOf(field, among)]),
    ...(range ? [{ key: numberKey(field), range }] : []),
    ...textBounds(condition).map(({ name, text }) => compareText(field, name, text)),
  ]
}

function isOneOf(field: string, values: NonNullable<FieldCondition['in']>): PayloadCondition {
  return { key: IS, match: { any: [...new Set(values.map((value) => wordOf(field, value)))] } }
}

function numberRange(condition: FieldCondition): Partial<Record<BoundName, number>> | undefined {
  const bounds = BOUNDS.flatMap((name) => {
    const value = condition[name]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return bounds.length > 0 ? Object.fromEntries(bounds) : undefined
}

/** A string is more than another where it is so in the first place in which they differ. */
function compareText(field: string, name: BoundName, text: string): PayloadCondition {
  if (!canBeBound(text)) throw new RangeError('The index cannot compare with so long a string')
  const places = orderOf(text)
  const last = places.length - 1
  const strict = name.startsWith('g') ? 'gt' : 'lt'
  return {
    should: places.map((number, place) => ({
      must: [
        ...places.slice(0, place).map((equal, i) => inRange(field, i, { gte: equal, lte: equal })),
        inRange(field, place, { [place === last ? name : strict]: number }),
      ],
    })),
  }
}

function inRange(field: string, place: number, range: object): PayloadCondition {
  return { key: orderKey(field, place), range }
}

interface TextBound {
  name: BoundName
  text: string
}

function textBounds(condition: FieldCondition): TextBound[] {
  return BOUNDS.flatMap((name) => {
    const text = condition[name]
    return typeof text === 'string' ? [{ name, text }] : []
  })
}

function conditionsOf(filter: Filter): FieldCondition[] {
  if ('and' in filter) return filter.and.flatMap(conditionsOf)
  if ('or' in filter) return filter.or.flatMap(conditionsOf)
  if ('not' in filter) return conditionsOf(filter.not)
  return [filter]
}

/** Each takes memory and files in every segment; ranges of what has none are resolved by the document store. */
const MAX_INDEXES = 128

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
    if (held.has(key) || held.size >= MAX_INDEXES) return
    const made = making.get(key) ?? make(key).finally(() => making.delete(key))
    making.set(key, made)
    await made
  }

  return {
    async makeFor(metadata) {
      const keys = rangeKeysUsedBy(metadata)
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

function rangeKeysUsedBy(metadata: ChunkMetadata = []): string[] {
  const distinct = new Set<Metadata>()
  for (const each of metadata) if (each) distinct.add(each)
  return [...new Set([...distinct].flatMap(rangeKeysOf))]
}
