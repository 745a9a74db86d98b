/** Of one document. Threads check it, too, without the schemas, which take longer to load than they do. */
export const MAX_METADATA_FIELDS = 32
