import { createHash } from 'node:crypto'
import type { FieldCondition, Filter, MetadataValue } from '@agent-server/lib/filter.ts'
import { DEFAULT_COLLECTION, type Labels, shownMetadata } from '@agent-server/lib/labels.ts'
import type { Rights, Visibility } from '@agent-server/lib/visibility.ts'
import type { ChunkLabels } from '@agent-server/search'
import type { PayloadCondition, PayloadFilter, Range } from './api.ts'

/** A document's labels as stored with its points, so that Qdrant can filter by them. */
export interface Payload {
  /** One keyword for its place, and one for each pair of field and value, for equality. */
  is: string[]
  /** Numbers by field, for ranges. */
  number: Record<string, number>
  /** The order of strings by field, for ranges: see `orderOf`. */
  order: Record<string, Record<string, number>>
}

/** Key of the keywords. Its index is created with the collection, those of other keys when first needed. */
export const IS = 'is'

/** Longer strings are replaced by their digest, so that keywords stay short. */
const MAX_WORD = 64

// A string is mapped to numbers that are ordered like its code points: each six bytes of UTF-8 make one number below
// 2 ** 53, in which the end of the string sorts before any byte.
const BYTES_PER_PLACE = 6
const BASE = 257
const PLACES = ['a', 'b', 'c', 'd', 'e'] as const
/** In bytes of UTF-8: enough for an ISO time with a fraction and an offset. Qdrant cannot compare longer strings. */
const MAX_BOUND = PLACES.length * BYTES_PER_PLACE - 1
const LOOKS_LIKE_DATE = /^\d{4}-\d{2}/

/** The payload of the chunk at a position of a batch; undefined if its document is gone. */
export type PayloadOf = (place: number) => Payload | undefined

/** Computes each payload once, since the chunks of a document share its labels. */
export function createPayloads(labels: ChunkLabels): PayloadOf {
  const made = new Map<Labels, Payload>()
  return (place) => {
    const one = labels[place]
    if (!one) return undefined
    const payload = made.get(one) ?? toPayload(one)
    made.set(one, payload)
    return payload
  }
}

export function toPayload(labels: Labels): Payload {
  const { collection = DEFAULT_COLLECTION, conversation } = labels
  const place = conversation === undefined ? inCollection(collection) : ofConversation(conversation)
  const payload: Payload = { is: [place, ...rightsOf(labels)], number: {}, order: {} }
  for (const [field, value] of Object.entries(shownMetadata(labels) ?? {})) {
    payload.is.push(wordOf(field, value))
    if (typeof value === 'number') payload.number[nameOf(field)] = value
    if (typeof value === 'string') {
      const places = orderOf(value).map((number, place) => [PLACES[place], number])
      payload.order[nameOf(field)] = Object.fromEntries(places)
    }
  }
  return payload
}

/**
 * The keys for which range filters are likely: those of numbers and of strings that look like dates. Ranges over other
 * strings are rare, and each index takes memory.
 */
export function rangeKeysOf(labels: Labels): string[] {
  return Object.entries(shownMetadata(labels) ?? {}).flatMap(([field, value]) => {
    if (typeof value === 'number') return [numberKey(field)]
    const isDate = typeof value === 'string' && LOOKS_LIKE_DATE.test(value)
    return isDate ? orderOf(value).map((_, place) => orderKey(field, place)) : []
  })
}

/** The keyword of a field's value. `true`, 1 and "1" have different keywords; 1 and 1.0 have the same. */
export function wordOf(field: string, value: MetadataValue): string {
  if (typeof value === 'boolean') return `${field}=b${Number(value)}`
  if (typeof value === 'number') return `${field}=n${value}`
  if (value.length <= MAX_WORD) return `${field}=s${value}`
  return `${field}=h${createHash('sha256').update(value).digest('base64url')}`
}

export function numberKey(field: string): string {
  return `number.${nameOf(field)}`
}

export function orderKey(field: string, place: number): string {
  return `order.${nameOf(field)}.${PLACES[place]}`
}

/** Whether `orderOf` can compare every string with this one. */
export function canBeBound(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BOUND
}

/** The numbers of a string, up to the one in which it ends or the last; comparing them in order compares strings. */
export function orderOf(text: string): number[] {
  // A few code units more than needed, so that no surrogate pair within the relevant part is split.
  const bytes = Buffer.from(text.slice(0, MAX_BOUND + 3))
  const places = Math.min(PLACES.length, Math.floor(bytes.length / BYTES_PER_PLACE) + 1)
  return Array.from({ length: places }, (_, place) => {
    let number = 0
    for (let i = 0; i < BYTES_PER_PLACE; i++) {
      number = number * BASE + 1 + (bytes[place * BYTES_PER_PLACE + i] ?? -1)
    }
    return number
  })
}

/** A field's name escaped for use in a path, in which a dot is a separator. */
function nameOf(field: string): string {
  return field.replaceAll('-', '--').replaceAll('.', '-d')
}

const BOUNDS = ['gt', 'gte', 'lt', 'lte'] as const
type BoundName = (typeof BOUNDS)[number]

/** The payload keys used by the ranges of a filter; undefined if it compares with a string longer than `MAX_BOUND`. */
export function rangeKeysIn(filter: Filter): string[] | undefined {
  const keys = new Set<string>()
  for (const condition of conditionsOf(filter)) {
    if (numberRange(condition)) keys.add(numberKey(condition.field))
    for (const { text } of textBounds(condition)) {
      if (!canBeBound(text)) return undefined
      for (const place of orderOf(text).keys()) keys.add(orderKey(condition.field, place))
    }
  }
  return [...keys]
}

// No field of metadata begins with this character.
const inCollection = (name: string) => wordOf('~in', name)
const ofConversation = (id: string) => wordOf('~of', id)
/** Marks documents whose collection decides who may read them. */
const inOpen = (collection: string) => wordOf('~open', collection)
const readBy = (principal: string) => wordOf('~may', principal)
const addedBy = (person: string) => wordOf('~by', person)

function rightsOf({ access, creator, collection = DEFAULT_COLLECTION, conversation }: Labels) {
  const open = conversation === undefined ? [inOpen(collection)] : []
  return [
    ...(access ? access.map(readBy) : open),
    ...(creator === undefined ? [] : [addedBy(creator)]),
  ]
}

/**
 * The document store's condition, by the rights to collections that it has just told; and what the person has added to
 * collections that they have since lost, which the store leaves out. One list of keywords: Qdrant can tell how many
 * points it takes, and looks at each point once.
 */
function toRightsCondition({ person, principals }: Rights, readable: readonly string[]) {
  const any = [addedBy(person), ...principals.map(readBy), ...readable.map(inOpen)]
  return { key: IS, match: { any } }
}

/** The payload keys that tell what is visible besides `is`; undefined if they cannot. */
export function keysFor(visibility: Visibility): string[] | undefined {
  const { collections, rights, conversations, filter } = visibility
  // The document store knows what may be changed.
  if (rights !== 'all' && rights.to === 'change') return undefined
  if (collections.length === 0 || conversations === 'all') return undefined
  if (conversations !== 'none' && conversations.id === undefined) return undefined
  return filter ? rangeKeysIn(filter) : []
}

/**
 * Translates a visibility for Qdrant: the documents of the conversation, whose owner the document store checks, and those
 * of no conversation in the collections.
 */
export function toVisibleFilter(
  { collections, rights, conversations, filter }: Visibility,
  readable: readonly string[] = [],
): PayloadFilter {
  const shared: PayloadFilter = {
    must: [
      ...(collections === 'all'
        ? []
        : [{ key: IS, match: { any: collections.map(inCollection) } }]),
      ...(rights === 'all' ? [] : [toRightsCondition(rights, readable)]),
      ...(filter ? [toPayloadFilter(filter)] : []),
    ],
  }
  const id = typeof conversations === 'object' ? conversations.id : undefined
  if (id === undefined) return shared
  return { should: [shared, { key: IS, match: { value: ofConversation(id) } }] }
}

/** Translates a filter for Qdrant. Throws `RangeError` if it compares with a string longer than `MAX_BOUND`. */
export function toPayloadFilter(filter: Filter): PayloadFilter {
  if ('and' in filter) return { must: filter.and.map(toPayloadFilter) }
  if ('or' in filter) return { should: filter.or.map(toPayloadFilter) }
  if ('not' in filter) return { must_not: [toPayloadFilter(filter.not)] }
  return { must: fieldConditions(filter) }
}

function fieldConditions(condition: FieldCondition): PayloadCondition[] {
  const { field, eq, in: among } = condition
  const range = numberRange(condition)
  const words = among && [...new Set(among.map((value) => wordOf(field, value)))]
  return [
    ...(eq === undefined ? [] : [{ key: IS, match: { value: wordOf(field, eq) } }]),
    ...(words ? [{ key: IS, match: { any: words } }] : []),
    ...(range ? [{ key: numberKey(field), range }] : []),
    ...textBounds(condition).map(({ name, text }) => compareText(field, name, text)),
  ]
}

function numberRange(condition: FieldCondition): Range | undefined {
  const bounds = BOUNDS.flatMap((name) => {
    const value = condition[name]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return bounds.length > 0 ? Object.fromEntries(bounds) : undefined
}

/** Compares strings by the first of their numbers that differ. */
function compareText(field: string, name: BoundName, text: string): PayloadFilter {
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

function inRange(field: string, place: number, range: Range): PayloadCondition {
  return { key: orderKey(field, place), range }
}

function textBounds(condition: FieldCondition): { name: BoundName; text: string }[] {
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
