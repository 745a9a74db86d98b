import { type Hash, hash } from 'node:crypto'
import { basename } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import type { FolderToWatch } from '@agent-server/schemas/operator/watch.ts'
import { type DocumentStore, documentPages, type StoredDocument } from '@agent-server/stores'
import type { Changing } from '../ingestion/document-changes.ts'

/** The metadata fields of a document that tell its folder, its path below that, and the digest of the content. */
export const FOLDER = 'watched_folder'
export const PATH = 'watched_path'
export const DIGEST = 'watched_digest'

const MAX_SLUG = 100
const HASH_CHARACTERS = 16

/** How the digest of a document ends whose access is the folder's. */
const WITH_ACCESS = ' access'

/** The same for the same folder and path, whatever the file's content. */
export function documentIdOf(folder: string, path: string): string {
  const digest = hash('sha256', `${folder}\n${path}`).slice(0, HASH_CHARACTERS)
  const slug = `${basename(folder)}/${path}`.replaceAll(/[^A-Za-z0-9._-]+/g, '-')
  return `${slug.slice(-MAX_SLUG).replace(/^[^A-Za-z0-9]+/, '') || 'file'}-${digest}`
}

/** Whether a document came from this file, and not from somebody who sent the same metadata. */
export function isFrom(
  folder: string,
  path: string,
  { id, metadata }: Pick<StoredDocument, 'id' | 'metadata'>,
): boolean {
  const isMarked = metadata?.[FOLDER] === folder && metadata[PATH] === path
  return isMarked && id === documentIdOf(folder, path)
}

/** The digest of everything that a document is made of, so that a change of any of it makes a new revision. */
export function digestOf(content: Hash, { collection, access }: FolderToWatch): string {
  const digest = hash('sha256', JSON.stringify([content.digest('hex'), collection]), 'base64url')
  return access ? digest + WITH_ACCESS : digest
}

/**
 * What gives a document the access that its folder is set to have, or takes it away again: without an entry of its own,
 * a folder leaves documents what others have given them. Undefined if nothing has to change.
 */
export function accessChange(
  { access }: Pick<FolderToWatch, 'access'>,
  document: Pick<StoredDocument, 'access' | 'metadata'>,
): Pick<Changing, 'access' | 'metadata'> | undefined {
  const digest = String(document.metadata?.[DIGEST] ?? '')
  const isMarked = digest.endsWith(WITH_ACCESS)
  const isSame = JSON.stringify(access) === JSON.stringify(document.access)
  if (access ? isMarked && isSame : !isMarked) return undefined
  const bare = isMarked ? digest.slice(0, -WITH_ACCESS.length) : digest
  return {
    access: access ?? null,
    ...(bare !== '' && { metadata: { [DIGEST]: access ? bare + WITH_ACCESS : bare } }),
  }
}

/** The documents of all files of a folder, with their paths. */
export async function* documentsOf(
  store: Pick<DocumentStore, 'list'>,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<{ path: string; document: StoredDocument }> {
  const pages = documentPages(store, everything(), { filter: allOf(folder) }, signal)
  for await (const { documents } of pages) {
    for (const document of documents) {
      const path = String(document.metadata?.[PATH])
      if (isFrom(folder, path, document)) yield { path, document }
    }
  }
}

/** Some of the files whose documents have failed, and how many there are. */
export async function failedOf(
  store: Pick<DocumentStore, 'list' | 'countListed'>,
  folder: string,
  limit: number,
): Promise<{ failed: { path: string; reason: string }[]; count: number }> {
  const selection = { filter: allOf(folder), status: 'failed' } as const
  const { documents, nextCursor } = await store.list(everything(), { ...selection, limit })
  const failed = documents.flatMap(({ metadata, error }) =>
    error ? [{ path: String(metadata?.[PATH]), reason: error.message }] : [],
  )
  const count = nextCursor ? await store.countListed(everything(), selection) : documents.length
  return { failed, count }
}

const allOf = (folder: string) => ({ field: FOLDER, eq: folder })
