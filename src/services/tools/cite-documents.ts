import type { StoredDocument } from '../../stores/document-store.ts'
import type { Citations } from '../agent/citations.ts'

/** Makes a document as a whole a source that the answer can cite; answers its number. */
export function citeDocument(citations: Citations, document: StoredDocument): number | undefined {
  const { id, title = '', url, metadata, characters } = document
  const [added] = citations.add([
    {
      id: `${id}-document`,
      ...{ score: 1, title, documentId: id, start: 0, end: characters },
      text: `The document ${titleOf(document)}`,
      ...(url !== undefined && { url }),
      ...(metadata && { metadata }),
    },
  ])
  return added?.number
}

/** On one line, and never empty. */
export function titleOf({ id, title }: StoredDocument): string {
  return title?.replaceAll(/\s+/g, ' ') ?? id
}
