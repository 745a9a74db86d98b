export type MetadataValue = string | number | boolean

/** Flat fields about a document. */
export type Metadata = Record<string, MetadataValue>

/** Holds if the field meets all conditions; values match only values of the same type. */
export interface FieldCondition {
  field: string
  eq?: MetadataValue | undefined
  in?: MetadataValue[] | undefined
  gt?: string | number | undefined
  gte?: string | number | undefined
  lt?: string | number | undefined
  lte?: string | number | undefined
}

/** Selects documents by their metadata. `not` also selects documents without the field. */
export type Filter = FieldCondition | { and: Filter[] } | { or: Filter[] } | { not: Filter }
