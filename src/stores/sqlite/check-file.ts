import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '@agent-server/lib/files.ts'
import { text } from '../sql/query.ts'
import { DATABASE_FILE, openForReading } from './connection.ts'
import { damaged, toStoreError } from './error.ts'
import { schemaVersion } from './migrate.ts'

/** Reading this much takes seconds, during which nothing else runs in the process. */
const MAX_CHECKED_BYTES = 4_000_000_000

/**
 * Reads the whole database, also while a server uses it. Returns what it found; throws `store_unavailable`, with the
 * remedy, if the database is damaged or another server's.
 */
export async function checkDatabaseFile(directory: string): Promise<string> {
  const file = join(directory, DATABASE_FILE)
  try {
    const { size } = await stat(file)
    if (size > MAX_CHECKED_BYTES) return 'not read, as it is larger than 4 GB'
  } catch (error) {
    if (isMissing(error)) return 'none yet'
    throw error
  }
  try {
    using database = openForReading(file)
    schemaVersion(database)
    const outcome = text(database.prepare('PRAGMA quick_check(1)').get(), 'quick_check')
    if (outcome === 'ok') return 'is sound'
  } catch (error) {
    throw toStoreError(error)
  }
  throw damaged()
}
