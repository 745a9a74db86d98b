/**
 * Most metadata fields of one document. Here, because worker threads check it without loading the schemas, which
 * take longer to load than the workers themselves.
 */
export const MAX_METADATA_FIELDS = 32

/** The metadata field that holds the name of a document's collection. */
export const COLLECTION = 'collection'

/** The metadata field that holds the conversation a document belongs to. Clients cannot name it: `~` begins no name. */
export const CONVERSATION = '~conversation'
