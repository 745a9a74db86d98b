import type { Hit } from '../../schemas/query.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import type { Citations } from '../agent/citations.ts'

/** Its identifier is the same for the same content, so that it gets one number. */
type Source = Pick<Hit, 'id' | 'text' | 'row' | 'sheet'> & Partial<Pick<Hit, 'end'>>

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
