import type { Log } from '@agent-server/lib/log.ts'
import type { Backup } from './backup.ts'
import type { CorpusSource, CorpusTarget } from './corpus.ts'
import type { CopyPolicy, OpenedStore, SharedStore } from './opened-store.ts'
import type { StartDeadline } from './postgres/connection.ts'
import type { Checked } from './sql/check.ts'

/** The database at a URL of PostgreSQL, or else SQLite's in a folder. Only the modules of the one in use are loaded. */
export interface StorePlace {
  /** `postgres://…`; never shown. */
  readonly url?: string | undefined
  readonly directory: string
  /** Paths of what was derived from the database in the folder; removed before another one replaces it. */
  readonly derived: readonly string[]
}

interface StoreOptions {
  /** The most documents that may be queued for ingestion or in progress, on all servers together. */
  readonly queueLimit: number
  /** The most connections to PostgreSQL in use at a time, besides the one that listens. */
  readonly poolSize: number
  /** How long to wait for a database that is down; without it, the database must be up. */
  readonly deadline?: StartDeadline | undefined
  readonly copyPolicy?: CopyPolicy
  /** Called once if the store fails for good; from then on every call throws `store_unavailable`. */
  readonly onCrash: (error: Error) => void
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** A document store; members of `SharedStore` are absent if no other server can have it open. */
export type AnyStore = OpenedStore & Partial<SharedStore>

/**
 * Opens the document store of a place, and creates or migrates it if necessary. Throws `store_unavailable`, with the
 * remedy.
 */
export async function openStore(
  { url, directory }: StorePlace,
  { poolSize, deadline, onCrash, ...options }: StoreOptions,
): Promise<AnyStore> {
  if (url === undefined) {
    const { createSqliteStore } = await import('./sqlite/sqlite-store.ts')
    return createSqliteStore({ ...options, directory, onCrash })
  }
  const { createPostgresStore } = await import('./postgres/postgres-store.ts')
  return createPostgresStore({ ...options, url, poolSize, deadline })
}

/** Throws an AppError if the document store of a place cannot be opened. It must not be open in this process. */
export async function checkPlace(
  { url, directory }: StorePlace,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  if (url === undefined) {
    const { lockDirectory, makeDirectory } = await import('./sqlite/connection.ts')
    await makeDirectory(directory)
    return lockDirectory(directory).release()
  }
  const { awaitDatabase } = await import('./postgres/connection.ts')
  return awaitDatabase({ url, log })
}

/**
 * Reads the whole database, unless it is larger than so many bytes. Throws `store_unavailable`, with the remedy, if it
 * or a document is damaged.
 */
export async function checkDatabase(
  { url, directory }: StorePlace,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Checked> {
  if (url === undefined) {
    const { checkDatabaseFile } = await import('./sqlite/check-file.ts')
    return checkDatabaseFile(directory, maxBytes, signal)
  }
  const { checkPostgres } = await import('./postgres/check-database.ts')
  return checkPostgres(url, maxBytes, signal)
}

/** The documents in a folder, which are to be copied. */
export async function openCorpusSource(directory: string): Promise<CorpusSource> {
  const { createSqliteCorpus } = await import('./sqlite/corpus.ts')
  return createSqliteCorpus(directory)
}

/** A database of PostgreSQL that takes them. */
export async function openCorpusTarget(url: string): Promise<CorpusTarget> {
  const { createPostgresCorpus } = await import('./postgres/corpus.ts')
  return createPostgresCorpus(url)
}

/** Everything in the store of a place. */
export async function openBackup({ url, ...place }: StorePlace): Promise<Backup> {
  if (url === undefined) {
    const { createSqliteBackup } = await import('./sqlite/backup.ts')
    return createSqliteBackup(place)
  }
  const { createPostgresBackup } = await import('./postgres/backup.ts')
  return createPostgresBackup(url)
}
