import type { Filter, Metadata, MetadataValue } from '@agent-server/lib/filter.ts'
import { type Labels, shownMetadata } from '@agent-server/lib/labels.ts'
import type { Rights, Visibility } from '@agent-server/lib/visibility.ts'

/** Whether a filter takes a document with this metadata: what document stores and indexes must agree with. */
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

/** Whether a document with these labels is visible, where every conversation has the right owner. */
export function sees(
  { collections, rights, conversations, filter }: Visibility,
  labels: Labels,
): boolean {
  const { collection = 'default', conversation } = labels
  if (collections !== 'all' && !collections.includes(collection)) return false
  if (conversation !== undefined) {
    if (typeof conversations === 'string') return conversations === 'all'
    return conversations.id === undefined || conversations.id === conversation
  }
  if (rights !== 'all' && !reads(rights, labels)) return false
  return !filter || takes(filter, shownMetadata(labels))
}

/** Whom each collection includes. */
const READERS: Record<string, string> = { red: 'group:red', blue: 'public' }

export const readableBy = (principals: readonly string[]) =>
  Object.keys(READERS).filter((name) => principals.includes(READERS[name] ?? ''))

function reads({ person, principals }: Rights, labels: Labels): boolean {
  const { access, creator, collection = 'default' } = labels
  if (creator === person) return true
  return access
    ? access.some((entry) => principals.includes(entry))
    : readableBy(principals).includes(collection)
}
