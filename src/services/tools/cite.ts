import type { StoredDocument } from '../../stores/document-store.ts'
import type { Citations } from '../agent/citations.ts'

interface Source {
  /** The same for the same content, so that it gets one number. */
  id: string
  text: string
  end?: number
  row?: number
  sheet?: string
}

/** Makes what a tool has read of a document a source that the answer can cite; answers how its number is written. */
export function cite(
  citations: Citations,
  { id: documentId, title = '', url, metadata }: StoredDocument,
  source: Source,
): string {
  const [added] = citations.add([
    {
      ...{ score: 1, title, documentId, start: 0, end: 0, ...source },
      ...(url !== undefined && { url }),
      ...(metadata && { metadata }),
    },
  ])
  return `${citations.key} [${added?.number}]`
}
