import { type Checked, checkRows } from '../sql/check.ts'
import { integer } from '../sql/query.ts'
import { withSession } from './connection.ts'
import { POSTGRES } from './dialect.ts'
import { readVersion, STEPS } from './migrate.ts'

const SIZE = 'SELECT pg_database_size(current_database()) AS bytes'

/**
 * Compares files and texts with their digests, also while servers use the database, unless it is larger than so many
 * bytes. Throws `store_unavailable`, with the remedy, if a document is damaged.
 */
export function checkPostgres(url: string, maxBytes: number, signal: AbortSignal) {
  return withSession(url, async (session): Promise<Checked> => {
    const version = await readVersion(session, STEPS.length)
    if (version === 0) return { words: 'none yet' }
    if (version < STEPS.length) {
      return { words: 'is of an earlier version, which the next start migrates' }
    }
    if (integer(await session.one(SIZE), 'bytes') > maxBytes) {
      return { words: 'not read, as it is too large' }
    }
    const source = { read: session.all, digest: POSTGRES.fileDigest, hasDigests: true }
    return checkRows(source, signal)
  })
}
