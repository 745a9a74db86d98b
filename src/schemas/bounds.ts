/** Of one document. Threads check it, too, without the schemas, which take longer to load than they do. */
export const MAX_METADATA_FIELDS = 32

/** The field of the metadata that tells the collection of a document. */
export const COLLECTION = 'collection'
