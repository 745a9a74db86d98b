import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import {
  type DocumentLookup,
  type DocumentStore,
  eachDocument,
  type StoredDocument,
} from '@agent-server/stores'
import type { DocumentSource, Tables } from '@agent-server/tables'

/** The tables in the documents of the store. */
export type DocumentTables = Tables<StoredDocument, Visibility>

interface Dependencies {
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'>
}

/** The documents of the store that have tables. Their contents are converted once, for all who see them in the list. */
export function documentsWithTables({
  store,
  lookup,
}: Dependencies): DocumentSource<StoredDocument, Visibility> {
  return {
    list: (visibility, maximum, signal) =>
      eachDocument(lookup, visibility, { tabular: true }, maximum, signal),
    get: (id) => store.get(everything(), id),
    readFile: (id, revision) => store.readFile(everything(), id, revision),
    readText: (id, signal) => lookup.readText(everything(), id, signal),
  }
}
