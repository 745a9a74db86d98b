import { hash } from 'node:crypto'
import { basename } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'
import { documentPages } from '../../stores/lookup.ts'

/** The metadata fields of a document that tell its folder, its path below that, and the digest of the content. */
export const FOLDER = 'watched_folder'
export const PATH = 'watched_path'
export const DIGEST = 'watched_digest'

const MAX_SLUG = 100
const HASH_CHARACTERS = 16

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

/** The paths of all files of a folder that have documents. */
export async function* pathsOf(
  store: Pick<DocumentStore, 'list'>,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const pages = documentPages(store, everything(), { filter: allOf(folder) }, signal)
  for await (const { documents } of pages) {
    for (const document of documents) {
      const path = String(document.metadata?.[PATH])
      if (isFrom(folder, path, document)) yield path
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
