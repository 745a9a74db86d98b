import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentLookup } from '../../stores/document-lookup.ts'
import type { StoredDocument } from '../../stores/document-store.ts'

const PAGE = 200

/** Every document that fits, newest first, until there are `most`. */
export async function* documentsOf(
  lookup: Pick<DocumentLookup, 'findDocuments'>,
  filter: Filter | undefined,
  most: number,
  signal: AbortSignal,
): AsyncGenerator<StoredDocument> {
  let cursor: string | undefined
  let seen = 0
  do {
    const page = await lookup.findDocuments({ filter, cursor, limit: PAGE }, signal)
    for (const document of page.documents.slice(0, most - seen)) yield document
    seen += page.documents.length
    cursor = page.nextCursor
  } while (cursor !== undefined && seen < most)
}
