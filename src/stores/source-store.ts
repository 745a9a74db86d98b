/** The web address that a document was fetched from, and what its last fetch answered. Times are milliseconds since the epoch. */
export interface StoredSource {
  url: string
  /** How often it is fetched again, such as `1d`; absent where only on demand. */
  refresh?: string | undefined
  /** The title that the client chose; absent where the page's own is taken. */
  title?: string | undefined
  fetchedAt: number
  /** The HTTP status of the answer; absent where there was none. */
  status?: number | undefined
  /** Why the last fetch gave nothing to ingest. */
  error?: string | undefined
  /** How many fetches have failed since the last that did not. */
  failures: number
  /** When it is fetched next. */
  dueAt?: number | undefined
  /** What the answer that is kept had, for the next request to name. */
  etag?: string | undefined
  lastModified?: string | undefined
  /** Of the bytes that are kept. */
  digest: string
}

/** Where documents were fetched from. A source belongs to the content: `add` and `put` keep the new one, or remove the old one where there is none. */
export interface SourceStore {
  /** Takes documents that are due to be fetched, longest due first, and answers their ids. For so many milliseconds nobody else is given them; then they are due again. */
  takeSources(limit: number, milliseconds: number): Promise<string[]>
  /** Keeps what a fetch answered; does nothing where the document has another revision by now, or is gone. */
  noteSource(id: string, revision: number, source: StoredSource): Promise<void>
}
