import type { Entry } from '../../../scripts/eval/collection.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

/** Reads documents of a judged collection as a document store would, each being one chunk with its place as the key. */
export function readStoredChunks(documents: readonly Entry[]) {
  return (keys: readonly number[]): StoredChunk[] =>
    keys.flatMap((key) => {
      const document = documents[key]
      if (!document) return []
      const { _id: documentId, title, text } = document
      const place = { key, ordinal: 0, start: 0, end: text.length, heading: '' }
      const rest = { url: undefined, metadata: undefined }
      return [{ ...place, ...rest, id: `${documentId}-1-0`, documentId, title, text }]
    })
}
