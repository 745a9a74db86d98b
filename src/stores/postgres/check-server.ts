import { unavailable } from './postgres-error.ts'

/** The functions of the schema are written as 14 first understood them. */
const LEAST_VERSION = 140_000
const ENCODING = 'UTF8'

/** For `checkServer`: nothing of ours need be there yet. */
export const SERVER = `
  current_setting('server_version_num')::integer AS server_version,
  current_setting('server_version') AS server_version_name,
  current_setting('server_encoding') AS encoding`

export interface ServerFacts {
  version: number
  versionName: string
  encoding: string
}

/** Throws `store_unavailable` with the remedy for a server or a database that cannot hold the documents. */
export function checkServer({ version, versionName, encoding }: ServerFacts): void {
  if (version < LEAST_VERSION) {
    throw unavailable(`PostgreSQL 14 or later is needed; this is ${versionName}`)
  }
  if (encoding === ENCODING) return
  throw unavailable(
    `The database cannot hold every character: its encoding is ${encoding}. Name one in DATABASE_URL that was made with ENCODING 'UTF8' TEMPLATE template0.`,
  )
}
