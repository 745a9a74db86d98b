import { join } from 'node:path'
import { AppError, SetupError } from '@agent-server/lib/errors.ts'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { Backup } from '../stores/backup.ts'
import type { Corpus } from '../stores/corpus.ts'
import type { OpenedStore, SharedStore } from '../stores/opened-store.ts'
import type { StartDeadline } from '../stores/postgres/connection.ts'
import type { Checked } from '../stores/sql/check.ts'
import { createSqliteBackup } from '../stores/sqlite/backup.ts'
import { checkDatabaseFile } from '../stores/sqlite/check-file.ts'
import { lockDirectory, makeDirectory } from '../stores/sqlite/connection.ts'
import { createSqliteCorpus } from '../stores/sqlite/corpus.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'

/** A document store; members of `SharedStore` are absent if no other server can have it open. */
type AnyStore = OpenedStore & Partial<SharedStore>

/**
 * Opens the document store that is configured: PostgreSQL, or SQLite in `DATA_DIR`. With a deadline, waits for an
 * unreachable database. Throws a SetupError for one that cannot be opened, which says what to do.
 */
export async function openStore(
  ...parameters: Parameters<typeof openConfigured>
): Promise<AnyStore> {
  try {
    return await openConfigured(...parameters)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error
    throw new SetupError(error.message, { cause: error.cause })
  }
}

async function openConfigured(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  deadline?: StartDeadline,
): Promise<AnyStore> {
  const { INGEST_QUEUE_LIMIT: queueLimit, BACKUP_BEFORE_UPGRADE: copyPolicy } = config
  const { DATABASE_URL: url, DATA_DIR: directory } = config
  if (url !== undefined) {
    const { DATABASE_POOL: poolSize } = config
    const { createPostgresStore } = await import('../stores/postgres/postgres-store.ts')
    return createPostgresStore({ url, poolSize, queueLimit, deadline, copyPolicy, log })
  }
  return createSqliteStore({ directory, queueLimit, copyPolicy, onCrash: onFatal, log })
}

/** Throws an AppError if the document store of a configuration cannot be opened; it is not the one that is open. */
export async function checkOtherStore(
  { DATABASE_URL: url, DATA_DIR: directory }: Config,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  if (url !== undefined) {
    const { awaitDatabase } = await import('../stores/postgres/connection.ts')
    return awaitDatabase({ url, log })
  }
  await makeDirectory(directory)
  lockDirectory(directory).release()
}

/** For commands: opens the document store for `work`, and closes it afterwards. */
export async function withStore<Result>(
  config: Config,
  log: FastifyBaseLogger,
  work: (store: AnyStore) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * Reads the whole database, unless it is larger than so many bytes. Throws `store_unavailable`, with the remedy, if it
 * or a document is damaged.
 */
export async function checkDatabase(
  { DATABASE_URL, DATA_DIR }: Config,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Checked> {
  if (DATABASE_URL === undefined) return checkDatabaseFile(DATA_DIR, maxBytes, signal)
  const { checkPostgres } = await import('../stores/postgres/check-database.ts')
  return checkPostgres(DATABASE_URL, maxBytes, signal)
}

/** The whole corpus of the configured document store. */
export async function openCorpus({ DATABASE_URL, DATA_DIR }: Config): Promise<Corpus> {
  if (DATABASE_URL !== undefined) {
    const { createPostgresCorpus } = await import('../stores/postgres/corpus.ts')
    return createPostgresCorpus(DATABASE_URL)
  }
  return createSqliteCorpus({ directory: DATA_DIR, derived: [join(DATA_DIR, 'index')] })
}

/** Everything in the configured store. */
export async function openBackup({ DATABASE_URL, DATA_DIR }: Config): Promise<Backup> {
  if (DATABASE_URL !== undefined) {
    const { createPostgresBackup } = await import('../stores/postgres/backup.ts')
    return createPostgresBackup(DATABASE_URL)
  }
  return createSqliteBackup({ directory: DATA_DIR, derived: [join(DATA_DIR, 'index')] })
}
