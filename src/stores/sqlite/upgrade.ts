import { rm, stat } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { putInPlace } from '@agent-server/lib/files.ts'
import type { CopyPolicy } from '../opened-store.ts'
import { integer, text } from '../sql/query.ts'
import { directoryOf, hasRoom, LEFT_FREE_BYTES } from './connection.ts'
import { unavailable } from './error.ts'
import {
  COPY_SUFFIX,
  MIGRATIONS,
  type Migration,
  migrate,
  programOf,
  schemaVersion,
} from './migrate.ts'

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
  const file = `${database.location()}${COPY_SUFFIX}`
  const program = programOf(database)
  const needed = sizeOf(database) + LEFT_FREE_BYTES
  if (!hasRoom(directoryOf(database), needed)) {
    if (policy === 'require') throw unavailable(noRoom(directoryOf(database), needed))
    return { ...migrate(database, steps), isWithoutCopy: true }
  }
  await copyTo(file, database)
  const { size } = await stat(file)
  return { ...migrate(database, steps), copy: { file, bytes: size, program } }
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
