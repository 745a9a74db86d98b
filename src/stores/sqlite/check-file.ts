import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isMissing } from '@agent-server/lib/files.ts'
import { isWhole } from '../sql/artifacts.ts'
import { damagedDocuments, isSound } from '../sql/contents.ts'
import { bytes, integer, type Row, text } from '../sql/query.ts'
import { DATABASE_FILE, openForReading } from './connection.ts'
import { damaged, toStoreError } from './error.ts'
import { MIGRATIONS, schemaVersion } from './migrate.ts'

/**
 * Reads the whole database, also while a server uses it, unless it is larger than so many bytes. Returns what it found;
 * throws `store_unavailable`, with the remedy, if the database is damaged or another server's.
 */
export async function checkDatabaseFile(
  directory: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  const file = join(directory, DATABASE_FILE)
  try {
    const { size } = await stat(file)
    if (size > maxBytes) return 'not read, as it is too large'
  } catch (error) {
    if (isMissing(error)) return 'none yet'
    throw error
  }
  try {
    using database = openForReading(file)
    const isNewest = schemaVersion(database) === MIGRATIONS.length
    const outcome = text(database.prepare('PRAGMA quick_check(1)').get(), 'quick_check')
    if (outcome === 'ok') {
      const damagedIds = [
        ...damagedFilesIn(database),
        // Before the next start, those of an earlier version have no digests.
        ...(isNewest ? damagedIn(database, TEXTS, isSound) : []),
        ...(isNewest ? damagedIn(database, ARTIFACTS, isWhole) : []),
      ]
      if (damagedIds.length === 0) return 'is sound'
      throw damagedDocuments(damagedIds)
    }
  } catch (error) {
    throw toStoreError(error)
  }
  throw damaged()
}

const SERVED = `SELECT documents.id, files.number, json_extract(documents.file, '$.sha256') AS sha256
  FROM documents JOIN files ON files.document = documents.number
    AND files.revision = coalesce(served_revision, documents.revision)
  WHERE json_extract(documents.file, '$.sha256') IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM replacements WHERE document = documents.number)`
const PIECES = 'SELECT bytes FROM file_pieces WHERE file = ? ORDER BY ordinal'

/** The documents whose stored files do not have the digest that is kept of them. */
function damagedFilesIn(database: DatabaseSync): string[] {
  const pieces = database.prepare(PIECES)
  return Array.from(database.prepare(SERVED).iterate()).flatMap((row) => {
    const digest = createHash('sha256')
    for (const piece of pieces.iterate(integer(row, 'number'))) digest.update(bytes(piece, 'bytes'))
    return digest.digest('hex') === text(row, 'sha256') ? [] : [text(row, 'id')]
  })
}

const TEXTS = 'SELECT id, text, digest FROM contents JOIN documents ON number = document'

const ARTIFACTS = 'SELECT id, bytes, digest FROM artifacts'

function damagedIn(database: DatabaseSync, rows: string, isUndamaged: (row: Row) => boolean) {
  const ids: string[] = []
  for (const row of database.prepare(rows).iterate()) {
    if (!isUndamaged(row)) ids.push(text(row, 'id'))
  }
  return ids
}
