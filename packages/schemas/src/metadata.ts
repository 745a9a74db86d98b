import { boundedText, composed, optional } from '@agent-server/lib/fields.ts'
import type { Filter as SearchFilter } from '@agent-server/lib/filter.ts'
import { z } from 'zod'
import { MAX_METADATA_FIELDS } from './bounds.ts'

const MAX_VALUES = 100
const MAX_PARTS = 20
/** Most names and values in a filter, which bounds its cost. */
const MAX_SIZE = 1_000

const FieldName = z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/, {
  error: 'must start with a letter or _, followed by up to 63 of A-Z a-z 0-9 _ . -',
})

const Text = boundedText(500).overwrite(composed)
const Scalar = z.union([Text, z.number(), z.boolean()], {
  error: 'must be a string of at most 500 characters, a number or a boolean',
})
const Bound = z.union([Text, z.number()], {
  error: 'must be a string of at most 500 characters or a number',
})

const BAD_NAME =
  'must have names that start with a letter or _, followed by up to 63 of A-Z a-z 0-9 _ . -'

const fieldsOf = <Value extends z.ZodType>(value: Value) =>
  z
    .record(FieldName, value, {
      error: ({ code }) => (code === 'invalid_key' ? BAD_NAME : undefined),
    })
    .refine((fields) => Object.keys(fields).length <= MAX_METADATA_FIELDS, {
      message: `must not have more than ${MAX_METADATA_FIELDS} fields`,
    })
    .meta({ maxProperties: MAX_METADATA_FIELDS })

export const Metadata = fieldsOf(Scalar).meta({
  id: 'Metadata',
  description: `Up to ${MAX_METADATA_FIELDS} flat fields about a document, used in filters and returned with hits.`,
  examples: [{ language: 'en', year: 2026, public: true }],
})

/** A change of metadata: a value sets a field, null removes it. */
export const MetadataPatch = fieldsOf(z.union([Scalar, z.null()])).describe(
  'Fields to set, or null to remove a field. Fields not listed are unchanged.',
)

const OPERATORS = {
  eq: optional(Scalar).describe('Equal to this value.'),
  in: optional(z.array(Scalar).min(1).max(MAX_VALUES)).describe('Equal to one of these values.'),
  gt: optional(Bound).describe('Greater than this value.'),
  gte: optional(Bound).describe('Greater than or equal to this value.'),
  lt: optional(Bound).describe('Less than this value.'),
  lte: optional(Bound).describe('Less than or equal to this value.'),
}
export const OPERATOR_NAMES = z.object(OPERATORS).keyof().options

const FieldCondition = z
  .strictObject({ field: FieldName.describe('Name of a metadata field.'), ...OPERATORS })
  .refine((condition) => OPERATOR_NAMES.some((name) => condition[name] !== undefined), {
    message: `must have at least one of ${OPERATOR_NAMES.join(', ')}`,
  })
  .meta({
    id: 'FieldCondition',
    description:
      'Matches if the field meets all given conditions. Values match only values of the same type. Strings are compared by code points, which suits ISO dates.',
    examples: [{ field: 'year', gte: 2020, lt: 2025 }],
  })

export type MetadataPatch = z.output<typeof MetadataPatch>
export type Metadata = z.output<typeof Metadata>
export type MetadataValue = z.output<typeof Scalar>
export type FieldCondition = z.output<typeof FieldCondition>
export type Filter = SearchFilter

const nested = (part: z.ZodType<Filter>) => {
  const parts = z.array(part).min(1).max(MAX_PARTS)
  const shapes = [
    FieldCondition,
    z.strictObject({ and: parts.describe('All of these filters must match.') }),
    z.strictObject({ or: parts.describe('At least one of these filters must match.') }),
    z.strictObject({ not: part.describe('This filter must not match.') }),
  ] as const
  return z.union(shapes, { error: describeMistake })
}

// Written out level by level: a recursive schema would follow input to any depth.
const FilterLevel4 = nested(FieldCondition).meta({ id: 'FilterLevel4' })
const FilterLevel3 = nested(FilterLevel4).meta({ id: 'FilterLevel3' })
const FilterLevel2 = nested(FilterLevel3).meta({ id: 'FilterLevel2' })

export const Filter: z.ZodType<Filter> = nested(FilterLevel2)
  .refine((filter) => countValues(filter) <= MAX_SIZE, {
    message: `must not contain more than ${MAX_SIZE} values`,
  })
  .meta({
    id: 'Filter',
    description:
      'Restricts the search to documents whose metadata match: a condition on one field, or `and`, `or` and `not` of filters, up to four levels deep. `not` also matches documents without the field.',
    examples: [
      {
        and: [{ field: 'language', in: ['en', 'de'] }, { not: { field: 'public', eq: false } }],
      },
    ],
  })

/** A filter for which all of these hold; undefined if none is given. */
export function allOf(...filters: readonly (Filter | undefined)[]): Filter | undefined {
  const present = filters.filter((filter) => filter !== undefined)
  return present.length > 1 ? { and: present } : present[0]
}

function countValues(filter: unknown): number {
  if (typeof filter !== 'object' || filter === null) return 1
  return Object.values(filter).reduce((sum: number, part) => sum + countValues(part), 0)
}

const NEITHER =
  'must be a condition such as {"field": "language", "eq": "en"}, or "and", "or" or "not" of conditions'

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
