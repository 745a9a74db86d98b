import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isMissing } from '@agent-server/lib/files.ts'
import { type Checked, checkRows } from '../sql/check.ts'
import { type Read, text } from '../sql/query.ts'
import { createRunner, DATABASE_FILE, openForReading } from './connection.ts'
import { SQLITE } from './dialect.ts'
import { damaged, toStoreError } from './error.ts'
import { MIGRATIONS, schemaVersion } from './migrate.ts'

/**
 * Reads the whole database, also while a server uses it, unless it is larger than so many bytes. Throws
 * `store_unavailable`, with the remedy, if the database or a document is damaged, or if it is another server's.
 */
export async function checkDatabaseFile(
  directory: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Checked> {
  const file = join(directory, DATABASE_FILE)
  try {
    const { size } = await stat(file)
    if (size > maxBytes) return { words: 'not read, as it is too large' }
  } catch (error) {
    if (isMissing(error)) return { words: 'none yet' }
    throw error
  }
  try {
    using database = openForReading(file)
    const hasDigests = schemaVersion(database) === MIGRATIONS.length
    // Runs in one go, which no signal ends.
    const outcome = text(database.prepare('PRAGMA quick_check(1)').get(), 'quick_check')
    if (outcome === 'ok') {
      const { all } = createRunner(database)
      const read: Read = async (statement, values) => {
        // A signal is heard between two statements.
        await setImmediate()
        return all(statement, values)
      }
      return await checkRows({ read, digest: SQLITE.fileDigest, hasDigests }, signal)
    }
  } catch (error) {
    throw toStoreError(error)
  }
  throw damaged()
}
