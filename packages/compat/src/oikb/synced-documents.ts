import { hash } from 'node:crypto'
import { pagesOf } from '@agent-server/lib/pages.ts'
import { idIn, refuseOther } from '@agent-server/schemas/collection.ts'
import type { Document } from '@agent-server/schemas/document.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Documents } from '../services.ts'

/** The metadata fields of a document that tell its path in the source, and the hash of what was taken. */
export const PATH = 'synced_path'
export const HASH = 'synced_hash'

const MAX_SLUG = 40
const HASH_CHARACTERS = 16
const PER_PAGE = 500

/**
 * Where a file is in its source, such as `guide/hours.md`. What a manifest names and what arrives in a form come out
 * the same: forms encode quotation marks and control characters, and lose what precedes a slash in a name.
 */
export function pathOf(directory: string, filename: string): string {
  const name = filename
    .split(/[\\/]/)
    .at(-1)
    ?.replaceAll(/\p{Cc}|%[01][0-9a-f]/giu, '')
    .replaceAll('%22', '"')
  return toDirectory(`${directory}/${name || 'file'}`)
}

/** A directory's own path is its id. */
export function toDirectory(path: string): string {
  return path.split('/').filter(Boolean).join('/')
}

/** The directory of a file or directory; empty at the top. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The same for the same path, whatever the file's content; see `idIn`. */
export function documentIdFor(collection: string, path: string): string {
  const digest = hash('sha256', `${collection}\n${path}`).slice(0, HASH_CHARACTERS)
  return `${path.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-MAX_SLUG)}-${digest}`
}

/** Throws `collection_not_allowed` unless the caller may use the collection. */
export function checkCollection(
  collection: string,
  { collections }: Pick<Caller, 'collections'>,
): void {
  refuseOther(collection, collections)
}

/** A document that came from a source. */
export interface Synced {
  id: string
  path: string
  hash: string
  size: number
}

/** Undefined if the document did not come into this collection by a synchronisation. */
export function syncedOf(
  collection: string,
  { id, metadata = {}, file }: Document,
): Synced | undefined {
  const { [PATH]: path, [HASH]: digest } = metadata
  if (typeof path !== 'string' || typeof digest !== 'string') return undefined
  // The corpus puts more before an id that a person chooses.
  const chosen = idIn(collection, documentIdFor(collection, path))
  if (id !== chosen && !id.endsWith(`~${chosen}`)) return undefined
  return { id, path, hash: digest, size: file?.size ?? 0 }
}

/** All documents of a collection that came from a source; others that were put into it are left out. */
export async function* syncedDocuments(
  documents: Pick<Documents, 'list'>,
  collection: string,
  signal: AbortSignal,
): AsyncGenerator<Synced> {
  const query = { collection, filter: { field: PATH, gte: '' }, sort: 'createdAt' } as const
  const pages = pagesOf((cursor) => documents.list({ ...query, limit: PER_PAGE, cursor }, signal))
  for await (const page of pages) {
    yield* page.documents.flatMap((document) => syncedOf(collection, document) ?? [])
  }
}
