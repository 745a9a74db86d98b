import { z } from 'zod'
import { COLLECTION, MAX_METADATA_FIELDS } from './bounds.ts'
import { boundedText, optional } from './fields.ts'

const MAX_VALUES = 100
const MAX_PARTS = 20
/** Most names and values in a filter, which bounds its cost. */
const MAX_SIZE = 1_000

const FieldName = z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/, {
  error: 'must be a letter or _, then at most 63 of A-Z a-z 0-9 _ . -',
})

const Text = boundedText(500)
const Scalar = z.union([Text, z.number(), z.boolean()], {
  error: 'must be a string of at most 500 characters, a number or a boolean',
})
const Bound = z.union([Text, z.number()], {
  error: 'must be a string of at most 500 characters or a number',
})

const BAD_NAME = 'must have names of a letter or _, then at most 63 of A-Z a-z 0-9 _ . -'

const fieldsOf = <Value extends z.ZodType>(value: Value) =>
  z
    .record(FieldName, value, {
      error: ({ code }) => (code === 'invalid_key' ? BAD_NAME : undefined),
    })
    .refine((fields) => Object.keys(fields).length <= MAX_METADATA_FIELDS, {
      message: `must not have more than ${MAX_METADATA_FIELDS} fields`,
    })

export const Metadata = fieldsOf(Scalar).meta({
  id: 'Metadata',
  description: `Flat facts about a document, at most ${MAX_METADATA_FIELDS}, for filters and shown with its hits.`,
  examples: [{ language: 'en', year: 2026, public: true }],
})

/** A change of metadata: a value sets a field, null removes it. */
export const MetadataPatch = fieldsOf(z.union([Scalar, z.null()])).describe(
  'Fields to set; null takes one out. What is not named stays.',
)

const FieldCondition = z
  .strictObject({
    field: FieldName.describe('Name of a field of the metadata.'),
    eq: optional(Scalar).describe('Equal to this.'),
    in: optional(z.array(Scalar).min(1).max(MAX_VALUES)).describe('Equal to one of these.'),
    gt: optional(Bound).describe('More than this.'),
    gte: optional(Bound).describe('This or more.'),
    lt: optional(Bound).describe('Less than this.'),
    lte: optional(Bound).describe('This or less.'),
  })
  .refine((condition) => Object.values(condition).filter((part) => part !== undefined).length > 1, {
    message: 'must have at least one of eq, in, gt, gte, lt, lte',
  })
  .meta({
    id: 'FieldCondition',
    description:
      'Holds where the field does all that is asked. A value is compared with its own kind only: numbers by size, strings by code points, which suits ISO dates.',
    examples: [{ field: 'year', gte: 2020, lt: 2025 }],
  })

export type MetadataPatch = z.output<typeof MetadataPatch>
export type Metadata = z.output<typeof Metadata>
export type MetadataValue = z.output<typeof Scalar>
export type FieldCondition = z.output<typeof FieldCondition>

/** Selects documents by their metadata. `not` also takes documents without the field. */
export type Filter = FieldCondition | { and: Filter[] } | { or: Filter[] } | { not: Filter }

const nested = (part: z.ZodType<Filter>) => {
  const parts = z.array(part).min(1).max(MAX_PARTS)
  const shapes = [
    FieldCondition,
    z.strictObject({ and: parts }),
    z.strictObject({ or: parts }),
    z.strictObject({ not: part }),
  ] as const
  return z.union(shapes, { error: describeMistake })
}

// Written out level by level: a recursive schema would follow input to any depth.
const FilterLevel4 = nested(FieldCondition).meta({ id: 'FilterLevel4' })
const FilterLevel3 = nested(FilterLevel4).meta({ id: 'FilterLevel3' })
const FilterLevel2 = nested(FilterLevel3).meta({ id: 'FilterLevel2' })

export const Filter: z.ZodType<Filter> = nested(FilterLevel2)
  .refine((filter) => countValues(filter) <= MAX_SIZE, {
    message: `must not hold more than ${MAX_SIZE} values`,
  })
  .meta({
    id: 'Filter',
    description:
      'Only chunks of documents whose metadata it takes are found: a condition on one field, or `and`, `or`, `not` of filters, four levels deep. `not` takes documents without the field, too.',
    examples: [
      {
        and: [{ field: 'language', in: ['en', 'de'] }, { not: { field: 'public', eq: false } }],
      },
    ],
  })

/** Whether a filter takes a document with this metadata; the document store and the indexes decide in the same way. */
export function takes(filter: Filter, metadata: Metadata = {}): boolean {
  if ('and' in filter) return filter.and.every((part) => takes(part, metadata))
  if ('or' in filter) return filter.or.some((part) => takes(part, metadata))
  if ('not' in filter) return !takes(filter.not, metadata)
  const { field, eq, in: among, gt, gte, lt, lte } = filter
  const value = Object.hasOwn(metadata, field) ? metadata[field] : undefined
  if (value === undefined) return false
  const holds = (bound: MetadataValue | undefined, test: (order: number) => boolean) =>
    bound === undefined || (typeof bound === typeof value && test(compare(value, bound)))
  return (
    (eq === undefined || value === eq) &&
    (among === undefined || among.includes(value)) &&
    holds(gt, (order) => order > 0) &&
    holds(gte, (order) => order >= 0) &&
    holds(lt, (order) => order < 0) &&
    holds(lte, (order) => order <= 0)
  )
}

/** Compares strings by code points, which is the order of their UTF-8 bytes. */
function compare(a: MetadataValue, b: MetadataValue): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

/** The collection of documents that were put into none. */
export const DEFAULT_COLLECTION = 'default'

export const CollectionName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, {
    error: 'must be a letter or digit, then at most 63 of A-Z a-z 0-9 _ . -',
  })
  .describe(
    'Only documents of this collection: those whose metadata has its name in the field `collection`. `default` has those without; by itself all are taken.',
  )

interface Scoped {
  filter?: Filter | undefined
  collection?: string | undefined
}

/** A filter limited to a collection; undefined, for all documents, if neither is given. */
export function within({ filter, collection }: Scoped): Filter | undefined {
  if (collection === undefined) return filter
  const named = { field: COLLECTION, eq: collection }
  const part = collection === DEFAULT_COLLECTION ? { not: { field: COLLECTION, gte: '' } } : named
  return allOf(part, filter)
}

/** A filter limited to any of some collections; unchanged if `collections` is undefined. */
export function withinAny(
  collections: readonly string[] | undefined,
  filter?: Filter,
): Filter | undefined {
  if (!collections) return filter
  const any = { or: collections.flatMap((collection) => within({ collection }) ?? []) }
  return allOf(any, filter)
}

/** A filter for which all of these hold; undefined if none is given. */
export function allOf(...filters: readonly (Filter | undefined)[]): Filter | undefined {
  const given = filters.filter((filter) => filter !== undefined)
  return given.length > 1 ? { and: given } : given[0]
}

/** The metadata of a document put into a collection; unchanged if `collection` is undefined. */
export function placedIn(
  collection: string | undefined,
  metadata?: Metadata,
): Metadata | undefined {
  if (collection === undefined) return metadata
  const { [COLLECTION]: _before, ...rest } = metadata ?? {}
  return collection === DEFAULT_COLLECTION ? rest : { ...rest, [COLLECTION]: collection }
}

function countValues(filter: unknown): number {
  if (typeof filter !== 'object' || filter === null) return 1
  return Object.values(filter).reduce((sum: number, part) => sum + countValues(part), 0)
}

const NEITHER =
  'must be a condition such as {"field": "language", "eq": "en"}, or "and", "or", "not" of conditions'

/**
 * Explains a wrong filter. A union only says that nothing fits; most callers need to know what is wrong with the
 * field condition.
 */
function describeMistake({ input }: { input?: unknown }): string {
  const fields = FieldCondition.safeParse(input)
  const isCondition = typeof input === 'object' && input !== null && 'field' in input
  const issue = fields.error?.issues[0]
  if (!isCondition || !issue) return NEITHER
  return [issue.path.join('.'), issue.message].filter(Boolean).join(': ')
}
