import { damagedDocuments } from '../sql/contents.ts'
import { integer, text } from '../sql/query.ts'
import { withSession } from './connection.ts'
import { readVersion, STEPS } from './migrate.ts'

const SIZE = 'SELECT pg_database_size(current_database()) AS bytes'
/** Of the files that are served, as for SQLite. */
const DAMAGED_FILES = `SELECT documents.id FROM documents
  JOIN files ON files.document = documents.number
    AND files.revision = coalesce(served_revision, documents.revision)
  LEFT JOIN file_pieces ON file_pieces.file = files.number
  WHERE documents.file::jsonb ->> 'sha256' IS NOT NULL
    AND NOT EXISTS (SELECT FROM replacements WHERE document = documents.number)
  GROUP BY documents.number, files.number
  HAVING documents.file::jsonb ->> 'sha256'
    <> encode(sha256(coalesce(string_agg(bytes, ''::bytea ORDER BY ordinal), '')), 'hex')`
const DAMAGED_TEXTS = `SELECT documents.id FROM contents JOIN documents ON number = document
  WHERE digest <> encode(sha256(convert_to(text, 'UTF8')), 'hex')`
const DAMAGED_ARTIFACTS = `SELECT id FROM artifacts WHERE digest <> encode(sha256(bytes), 'hex')`

/**
 * Compares files and texts with their digests, also while servers use the database, unless it is larger than so many
 * bytes. Returns what it found; throws `store_unavailable`, with the remedy, if some are damaged.
 */
export function checkPostgres(url: string, maxBytes: number): Promise<string> {
  return withSession(url, async (session) => {
    const version = await readVersion(session, STEPS.length)
    if (version === 0) return 'none yet'
    if (version < STEPS.length) return 'is of an earlier version, which the next start migrates'
    if (integer(await session.one(SIZE), 'bytes') > maxBytes) return 'not read, as it is too large'
    const damaged = [DAMAGED_FILES, DAMAGED_TEXTS, DAMAGED_ARTIFACTS].map((rows) =>
      session.all(rows),
    )
    const rows = (await Promise.all(damaged)).flat()
    if (rows.length > 0) throw damagedDocuments(rows.map((row) => text(row, 'id')))
    return 'is sound'
  })
}
