import { boundedText } from '@agent-server/lib/fields.ts'
import { COLLECTION_NAME, within } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { Filter, OPERATOR_NAMES } from '@agent-server/schemas/metadata.ts'
import { MinScore } from '@agent-server/schemas/query.ts'
import { z } from 'zod'

// What OpenAI's Responses and vector stores say alike of a search: https://github.com/openai/openai-openapi.

/** The id of the store with every document. */
export const WHOLE_CORPUS = 'corpus'
const PREFIX = 'vs_'

/** `corpus`, or `vs_` followed by a collection's name. */
export const VectorStoreId = z
  .string()
  .max(70)
  .regex(
    new RegExp(`^(?:${WHOLE_CORPUS}|${PREFIX}${COLLECTION_NAME})$`),
    `must be "${WHOLE_CORPUS}", or "${PREFIX}" followed by a collection name`,
  )
  .describe('`corpus` for all documents, or `vs_<collection>` for a collection.')

/** The id of the store for a collection. */
export function storeOf(collection: string): string {
  return PREFIX + collection
}

/** The collection of a store; undefined for the one with every document, empty for an id that is no store. */
export function collectionOf(id: string): string | undefined {
  if (id === WHOLE_CORPUS) return undefined
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : ''
}

const Value = z.union([boundedText(500), z.number(), z.boolean()], {
  error: 'must be a string of at most 500 characters, a number or a boolean',
})

const Comparison = z.object({
  type: z.enum([...OPERATOR_NAMES, 'ne', 'nin']).describe('How the attribute is compared.'),
  key: z.string().min(1).max(64).describe('Name of the attribute.'),
  value: z
    .union([Value, z.array(Value).min(1).max(100)], {
      error: 'must be a string, a number, a boolean, or a list of them',
    })
    .describe('The value to compare with; a list for `in` and `nin`.'),
})

const compound = <Part extends z.ZodType>(part: Part) =>
  z.union(
    [
      Comparison,
      z.object({
        type: z.enum(['and', 'or']).describe('Whether all filters must match, or at least one.'),
        filters: z.array(part).min(1).max(20).describe('The filters to combine.'),
      }),
    ],
    { error: 'must be a comparison with its type, such as eq, or filters combined by and or or' },
  )

// As deep as the server's own filters, to which they are translated.
export const AttributeFilter = compound(compound(compound(Comparison))).describe(
  'Filter on attributes, which are the metadata of documents. `ne` and `nin` also match documents without the attribute.',
)

export type AttributeFilter = z.output<typeof AttributeFilter>

/** Translates to a filter of `/query` and checks its limits. Throws `invalid_request`. */
export function toFilter(filter: AttributeFilter, field: string): Filter {
  const { data, error } = Filter.safeParse(translated(filter))
  if (error) throw refusal(field, error.issues[0]?.message ?? 'is not a valid filter')
  return data
}

function translated(filter: AttributeFilter): unknown {
  if ('filters' in filter) return { [filter.type]: filter.filters.map(translated) }
  const { type, key: field, value } = filter
  if (type === 'ne') return { not: { field, eq: value } }
  if (type === 'nin') return { not: { field, in: value } }
  return { field, [type]: value }
}

/** A filter for the documents of these stores; undefined, for all documents, if one store has them all. */
export function withinStores(ids: readonly string[]): Filter | undefined {
  const parts = ids.map((id) => within({ collection: collectionOf(id) }))
  const named = parts.filter((part) => part !== undefined)
  const [first, ...others] = named
  if (named.length < parts.length || !first) return undefined
  return others.length > 0 ? { or: named } : first
}

export const RankingOptions = z.object({
  ranker: z
    .enum(['auto', 'default-2024-11-15', 'none'])
    .nullish()
    .describe('Has no effect; the server ranks in its own way.'),
  score_threshold: MinScore.nullish().describe('Leaves out passages with a lower `score`, 0 to 1.'),
})
