import type {
  DocumentSort,
  DocumentStatus,
  Filter,
} from '../../packages/client/src/agent-server.ts'
import { parseFilter } from '../parts/filter-field.tsx'
import { href } from '../route.ts'

const STATUSES = ['ready', 'pending', 'processing', 'failed'] as const
const SORTS = [
  '-createdAt',
  'createdAt',
  'title',
  '-title',
  'characters',
  '-characters',
  '-updatedAt',
  'updatedAt',
] as const
const NEWEST_FIRST = '-createdAt'

/** Which documents the list shows, and in which order; part of the address, so that Back finds it again. */
export interface ShownDocuments {
  status: DocumentStatus | undefined
  title: string
  collection: string
  /** As it was typed: `year = 2026`, or a filter as JSON. */
  metadata: string
  /** The media type of the file, or its beginning and `*`. */
  type: string
  sort: DocumentSort
}

export function readShown(query: string): ShownDocuments {
  const parameters = new URLSearchParams(query)
  const text = (name: string) => parameters.get(name) ?? ''
  return {
    status: STATUSES.find((one) => one === text('status')),
    title: text('title'),
    collection: text('collection'),
    metadata: text('metadata'),
    type: text('type'),
    sort: SORTS.find((one) => one === text('sort')) ?? NEWEST_FIRST,
  }
}

export function addressOf(shown: ShownDocuments): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(shown)) {
    if (value && value !== NEWEST_FIRST) parameters.set(name, value)
  }
  const query = parameters.toString()
  return href('documents') + (query && `?${query}`)
}

export function isFiltered({ sort: _, ...conditions }: ShownDocuments): boolean {
  return Object.values(conditions).some(Boolean)
}

/** The request to the server. Throws a SyntaxError with a readable message. */
export function selectionOf({ status, title, collection, metadata, type, sort }: ShownDocuments) {
  return {
    status,
    title: title.trim() || undefined,
    collection: collection.trim() || undefined,
    mediaType: type || undefined,
    filter: parseCondition(metadata),
    sort,
  }
}

/** `year = 2026`, which a text that looks the same meets as well, or a filter as JSON. */
function parseCondition(text: string): Filter | undefined {
  if (text.trim() === '' || text.trim().startsWith('{')) return parseFilter(text)
  const [, field, value] = /^([^=]+)=(.+)$/.exec(text)?.map((part) => part.trim()) ?? []
  if (!field || !value) {
    throw new SyntaxError('Metadata: type a field and its value, such as year = 2026.')
  }
  if (value === 'true' || value === 'false') return { field, in: [value === 'true', value] }
  const number = Number(value)
  return { field, in: Number.isFinite(number) ? [number, value] : [value] }
}
