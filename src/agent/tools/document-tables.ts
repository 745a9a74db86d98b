import type { DocumentSource, Tables } from '@agent-server/tables'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'
import { type DocumentLookup, eachDocument } from '../../stores/lookup.ts'

/** The tables in the documents of the store. */
export type DocumentTables = Tables<StoredDocument, Filter>

interface Dependencies {
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'>
}

/** The documents of the store that have tables. */
export function documentsWithTables({
  store,
  lookup,
}: Dependencies): DocumentSource<StoredDocument, Filter> {
  return {
    list: (filter, maximum, signal) =>
      eachDocument(lookup, { tabular: true, filter }, maximum, signal),
    get: store.get,
    readFile: store.readFile,
    readText: lookup.readText,
  }
}
