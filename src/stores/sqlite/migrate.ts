import { readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { integer } from '../sql/query.ts'
import { unavailable } from './error.ts'

/** Marks a file as ours ("AgSv"), so that another program's database is never migrated by mistake. */
const APPLICATION_ID = 0x41_67_53_76

/** Step `n` migrates from version `n` to `n + 1`. A released step is never changed: its result is on users' disks. */
export const MIGRATIONS: readonly string[] = [
  './schema.sql',
  './feedback.sql',
  './found-tables.sql',
  './file-digests.sql',
  './chunk-contexts.sql',
  './evaluation.sql',
  './evaluation-runs.sql',
  './picture-chunks.sql',
  './visibility.sql',
  './collection-names.sql',
  './people-access.sql',
  './people.sql',
  './text-digests.sql',
  './runs.sql',
  './shared-conversations.sql',
  './usage.sql',
].map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))

export interface Migration {
  from: number
  to: number
}

/** Migrates the database to the newest version, each step in its own transaction. Throws like `schemaVersion`. */
export function migrate(database: DatabaseSync, steps: readonly string[] = MIGRATIONS): Migration {
  const from = schemaVersion(database, steps.length)
  for (const [version, step] of steps.entries()) {
    if (version >= from) apply(database, step, version + 1)
  }
  return { from, to: steps.length }
}

/**
 * Reads the version without changing anything. Throws `store_unavailable` for a database of a newer server or of
 * another program.
 */
export function schemaVersion(database: DatabaseSync, newest: number = MIGRATIONS.length): number {
  const version = integer(database.prepare('PRAGMA user_version').get(), 'user_version')
  const owner = integer(database.prepare('PRAGMA application_id').get(), 'application_id')
  const tables = integer(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get(), 'n')
  const isNew = owner === 0 && version === 0 && tables === 0
  if (owner !== APPLICATION_ID && !isNew) {
    throw unavailable('It belongs to another program. Set DATA_DIR to a directory of its own.')
  }
  if (version > newest) {
    throw unavailable(
      `It was written by a newer server (schema ${version}; this one knows up to ${newest}). Start the newer server again, or restore a backup made before the upgrade.`,
    )
  }
  return version
}

function apply(database: DatabaseSync, step: string, version: number): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
