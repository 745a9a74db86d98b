import { readFileSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { PROGRAM } from '../program.ts'
import { newerThan } from '../sql/newer.ts'
import { integer, text } from '../sql/query.ts'
import { STEP_FILES } from '../steps.ts'
import { unavailable } from './error.ts'

/** Marks a file as ours ("AgSv"), so that another program's database is never migrated by mistake. */
const APPLICATION_ID = 0x41_67_53_76

/** The text of each step. */
export const MIGRATIONS: readonly string[] = STEP_FILES.map((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8'),
)

export interface Migration {
  from: number
  to: number
}

/** Migrates the database to the newest version, in one transaction. Throws like `schemaVersion`. */
export function migrate(database: DatabaseSync, steps: readonly string[] = MIGRATIONS): Migration {
  const from = schemaVersion(database, steps.length)
  const to = steps.length
  if (from === to) return { from, to }
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const step of steps.slice(from)) database.exec(step)
    database.exec(`CREATE TABLE IF NOT EXISTS schema_version (program TEXT NOT NULL) STRICT;
      DELETE FROM schema_version;
      PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${to}`)
    database.prepare('INSERT INTO schema_version VALUES (?)').run(PROGRAM)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
  return { from, to }
}

/** The version of the program that made the schema. */
export function programOf(database: DatabaseSync): string | undefined {
  const table = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'`).get()
  const row = table && database.prepare('SELECT program FROM schema_version').get()
  return row && text(row, 'program')
}

/** Beside the database, the copy that an upgrade has made of it, named after the schema that the copy has. */
export const copyOf = (file: string, schema: number) => `${file}.schema-${schema}`

/** To the copy that a server of this schema can read, if there is one. */
function wayBack(file: string, schema: number): string | undefined {
  const copy = copyOf(file, schema)
  const madeAt = statSync(copy, { throwIfNoEntry: false })?.mtime
  return (
    madeAt &&
    `go back to the copy of ${madeAt.toISOString()}, without what was changed since: move ${file} with its -wal and -shm and the folder index elsewhere, and give ${copy} its name.`
  )
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
    const file = database.location() ?? ''
    throw unavailable(
      newerThan(newest, { version, program: programOf(database) }, wayBack(file, newest)),
    )
  }
  return version
}
