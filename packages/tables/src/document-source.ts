/** A document, as far as its tables are concerned. */
export interface TableDocument {
  id: string
  title?: string | undefined
  /** The file that it was sent as, if any; `tables` counts those that were found while reading it. */
  file?: { name: string; size: number; notes?: { tables?: number | undefined } } | undefined
  revision: number
  /** The revision that is shown; undefined until the first one is ready. */
  servedRevision: number | undefined
}

/** Where documents come from. `Visibility` is only passed on. */
export interface DocumentSource<Document extends TableDocument, Visibility> {
  /** The documents that have tables, the newest first, at most `maximum`. */
  list(visibility: Visibility, maximum: number, signal: AbortSignal): AsyncIterable<Document>
  get(id: string): Promise<TableDocument | undefined>
  /** The bytes of a document's file; undefined if there is none. */
  readFile(id: string, revision?: number): Promise<AsyncIterable<Uint8Array> | undefined>
  /** The text of a document as it is shown; undefined if there is none. */
  readText(id: string, signal: AbortSignal): Promise<string | undefined>
}
