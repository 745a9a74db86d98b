import { rm, stat } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { putInPlace } from '@agent-server/lib/files.ts'
import type { CopyPolicy } from '../opened-store.ts'
import { integer, text } from '../sql/query.ts'
import { directoryOf, hasRoom } from './connection.ts'
import { unavailable } from './error.ts'
import { copyOf, MIGRATIONS, type Migration, migrate, programOf, schemaVersion } from './migrate.ts'

/** The log of the migration may grow to the size of the database, too. */
const COPY_AND_LOG = 2
/** The space that must stay free. */
const SPARE_BYTES = 256 * 2 ** 20

export interface Upgrade extends Migration {
  /** What was made before, as no step can be taken back. */
  copy?: { file: string; bytes: number; program: string | undefined }
  /** Set if the disk had no room for a copy. */
  isWithoutCopy?: boolean
}

/**
 * Migrates the database; if it holds data of an earlier version, copies it first, as long as the disk has room. Throws
 * like `migrate`, and `store_unavailable` without room if the policy is to refuse then.
 */
export async function upgrade(
  database: DatabaseSync,
  policy: CopyPolicy,
  steps: readonly string[] = MIGRATIONS,
): Promise<Upgrade> {
  const version = schemaVersion(database, steps.length)
  if (policy === 'off' || version === 0 || version === steps.length) return migrate(database, steps)
  const location = database.location() ?? ''
  const file = copyOf(location, version)
  const program = programOf(database)
  const needed = COPY_AND_LOG * sizeOf(database) + SPARE_BYTES
  if (!hasRoom(directoryOf(database), needed)) {
    if (policy === 'require') throw unavailable(noRoom(directoryOf(database), needed))
    return { ...migrate(database, steps), isWithoutCopy: true }
  }
  await copyTo(file, database)
  try {
    const { size } = await stat(file)
    const migration = migrate(database, steps)
    await removeEarlier(location, version)
    return { ...migration, copy: { file, bytes: size, program } }
  } catch (error) {
    // The database is as it was, and may have lacked the room that the copy took.
    await rm(file, { force: true })
    throw error
  }
}

/** Each copy takes the place of the one before. */
async function removeEarlier(database: string, version: number): Promise<void> {
  for (let schema = 1; schema < version; schema += 1) {
    await rm(copyOf(database, schema), { force: true })
  }
}

const noRoom = (directory: string, bytes: number) =>
  `There is no room in ${directory} for a copy before the upgrade, which needs ${Math.ceil(bytes / 1_000_000)} MB: free some space, or set BACKUP_BEFORE_UPGRADE=off.`

function sizeOf(database: DatabaseSync): number {
  const pages = integer(database.prepare('PRAGMA page_count').get(), 'page_count')
  return pages * integer(database.prepare('PRAGMA page_size').get(), 'page_size')
}

async function copyTo(file: string, database: DatabaseSync): Promise<void> {
  const part = `${file}.part`
  await rm(part, { force: true })
  try {
    await backup(database, part)
    verify(part)
    await putInPlace(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Throws unless the copy is whole, and makes it durable. */
function verify(part: string): void {
  using copy = new DatabaseSync(part)
  copy.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL')
  const outcome = text(copy.prepare('PRAGMA quick_check(1)').get(), 'quick_check')
  if (outcome !== 'ok') throw unavailable(`The copy before the upgrade is not sound: ${outcome}`)
}
