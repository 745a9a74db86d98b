import { join } from 'node:path'
import { AppError, SetupError } from '@agent-server/lib/errors.ts'
import { type AnyStore, openStore, type StorePlace } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'

type PlaceConfig = Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>

/** Where the document store is: in PostgreSQL, or in SQLite in `DATA_DIR`. */
export const storePlace = ({
  DATABASE_URL: url,
  DATA_DIR: directory,
}: PlaceConfig): StorePlace => ({
  url,
  directory,
  derived: [join(directory, 'index')],
})

/**
 * Opens the document store that is configured. With a deadline, waits for an unreachable database. Throws a SetupError
 * for one that cannot be opened, which says what to do.
 */
export async function openConfiguredStore(
  config: Config,
  log: FastifyBaseLogger,
  onCrash: (error: Error) => void,
  deadline?: { milliseconds: number; signal?: AbortSignal | undefined },
): Promise<AnyStore> {
  const { INGEST_QUEUE_LIMIT: queueLimit, DATABASE_POOL: poolSize } = config
  const options = { queueLimit, poolSize, deadline, copyPolicy: config.BACKUP_BEFORE_UPGRADE }
  try {
    return await openStore(storePlace(config), { ...options, onCrash, log })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error
    throw new SetupError(error.message, { cause: error.cause })
  }
}

/** For commands: opens the document store for `work`, and closes it afterwards. */
export async function withStore<Result>(
  config: Config,
  log: FastifyBaseLogger,
  work: (store: AnyStore) => Promise<Result>,
): Promise<Result> {
  const store = await openConfiguredStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
