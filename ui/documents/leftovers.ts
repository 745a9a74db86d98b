/** Paths of what systems and office programs leave in folders, and of what folders hide: not meant to be uploaded. */
export const LEFTOVERS = /(^|\/)(~\$|(Thumbs\.db|desktop\.ini|@eaDir|node_modules)(\/|$))|.\/\./i
