/** Paths of what systems and office programs leave in folders, and of what folders hide: not meant to be uploaded. */
export const LEFTOVERS = /(^|\/)(~\$|(desktop\.ini|thumbs\.db|@eaDir|node_modules)(\/|$))|.\/\./i
