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

/** Whether a filter selects a document with this metadata; the document store and the indexes decide in the same way. */
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
