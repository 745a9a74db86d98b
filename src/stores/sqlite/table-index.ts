import { TABLE_ENDINGS } from '../document-lookup.ts'

/** The last characters that tell a table; the longest ending is longer, and still told apart by them. */
const TOLD_BY = 4
const ENDINGS = TABLE_ENDINGS.map((ending) => `'${ending.slice(-TOLD_BY)}'`).join(', ')

/** True for documents that may be tables; written as in the index, or SQLite would not use it. */
export const IS_TABLE = `lower(substr(coalesce(json_extract(file, '$.name'), title), -${TOLD_BY})) IN (${ENDINGS})`
