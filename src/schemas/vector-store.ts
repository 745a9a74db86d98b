import { z } from 'zod'
import { boundedText } from './fields.ts'
import { CollectionName, type Filter, within } from './metadata.ts'

// Shapes of OpenAI's file search: https://github.com/openai/openai-openapi.

/** The store that has every document. */
export const WHOLE_CORPUS = 'corpus'
const PREFIX = 'vs_'

/** `corpus`, or a collection behind `vs_`. */
export const VectorStoreId = z
  .string()
  .max(70)
  .refine((id) => id === WHOLE_CORPUS || CollectionName.safeParse(collectionOf(id)).success, {
    message: `must be "${WHOLE_CORPUS}", or "${PREFIX}" and the name of a collection`,
  })
  .describe('`corpus` has every document; `vs_<collection>` those of a collection.')

/** The id of the store that has the documents of a collection. */
export function storeOf(collection: string): string {
  return PREFIX + collection
}

/** The collection that a store is; nothing for the one that has every document. */
export function collectionOf(id: string): string | undefined {
  if (id === WHOLE_CORPUS) return undefined
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : ''
}

const Value = z.union([boundedText(500), z.number(), z.boolean()])

const Comparison = z.object({
  type: z.enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin']),
  key: z.string().min(1).max(64),
  value: z.union([Value, z.array(Value).min(1).max(100)]),
})

const compound = <Part extends z.ZodType>(part: Part) =>
  z.union([
    Comparison,
    z.object({ type: z.enum(['and', 'or']), filters: z.array(part).min(1).max(20) }),
  ])

// As deep as the filters of the server, which they become.
export const AttributeFilter = compound(compound(compound(Comparison))).describe(
  'Of attributes, which are the metadata of documents. `ne` and `nin` take documents without the attribute, too.',
)

export type AttributeFilter = z.output<typeof AttributeFilter>

/** The filter that `/query` takes, still to be validated: the two have different bounds on names and values. */
export function toFilter(filter: AttributeFilter): unknown {
  if ('filters' in filter) return { [filter.type]: filter.filters.map(toFilter) }
  const { type, key: field, value } = filter
  if (type === 'ne') return { not: { field, eq: value } }
  if (type === 'nin') return { not: { field, in: value } }
  return { field, [type]: value }
}

/** What the stores have of the documents; all where one of them has all. */
export function withinStores(ids: readonly string[]): Filter | undefined {
  const parts = ids.map((id) => within({ collection: collectionOf(id) }))
  const named = parts.filter((part) => part !== undefined)
  const [first, ...others] = named
  if (named.length < parts.length || !first) return undefined
  return others.length > 0 ? { or: named } : first
}
