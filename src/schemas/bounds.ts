/**
 * Most metadata fields of one document. Here, because worker threads check it without loading the schemas, which
 * take longer to load than the workers themselves.
 */
export const MAX_METADATA_FIELDS = 32
