// Here, because worker threads check these without loading the schemas, which take longer to load than the workers
// themselves.

/** Most metadata fields of one document. */
export const MAX_METADATA_FIELDS = 32

/** What somebody thinks of an answer. */
export const RATINGS = ['up', 'down'] as const
