import type { FieldCondition, Filter } from '../../schemas/metadata.ts'
import { canBeBound, IS, numberKey, orderKey, orderOf, wordOf } from './payload.ts'

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
