/** The address that a document was fetched from, and its last fetch. Times are milliseconds since the epoch. */
export interface StoredSource {
  url: string
  /** How often it is fetched again, such as `1d`; absent if only on demand. */
  refresh?: string | undefined
  /** The title that the client chose; absent if the page's own title is used. */
  title?: string | undefined
  fetchedAt: number
  /** The HTTP status of the response; absent if there was none. */
  status?: number | undefined
  /** Why the last fetch returned nothing to ingest. */
  error?: string | undefined
  /** How many fetches have failed since the last successful one. */
  failures: number
  /** When it is due to be fetched again. */
  dueAt?: number | undefined
  /** The validators of the stored response, for conditional requests. */
  etag?: string | undefined
  lastModified?: string | undefined
  /** The digest of the stored bytes. */
  digest: string
}

/**
 * Where documents were fetched from. A source belongs to the content: `add` and `put` store the new source, or remove
 * the old one if there is none.
 */
export interface SourceStore {
  /**
   * Takes documents that are due to be fetched, longest overdue first, and returns their ids. Nobody else gets them for
   * `milliseconds`; then they are due again.
   */
  takeSources(limit: number, milliseconds: number): Promise<string[]>
  /** Stores the result of a fetch; does nothing if the document has another revision by now, or is gone. */
  noteSource(id: string, revision: number, source: StoredSource): Promise<void>
}
