import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { untilAborted } from '@agent-server/lib/abort.ts'
import type { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { startThread } from '@agent-server/lib/processes/thread.ts'
import { searchedIn } from '../look-ups-in-turn.ts'
import type { CopyPolicy, OpenedStore, VectorReplacement } from '../opened-store.ts'
import { NO_LEASE_MS } from '../sql/jobs.ts'
import type { Read } from '../sql/query.ts'
import { type Claims, createStore } from '../sql/store.ts'
import { createVisibleKeys } from '../sql/visible-keys.ts'
import { callsOf, createWrites, type WriteCalls } from '../sql/writes.ts'
import {
  createRunner,
  DATABASE_FILE,
  keepPrivate,
  LEFT_FREE_BYTES,
  lockDirectory,
  makeDirectory,
  openForReading,
  requireRoom,
} from './connection.ts'
import { SQLITE } from './dialect.ts'
import { toStoreError, unavailable } from './error.ts'
import { createLookups } from './lookup.ts'
import { WriteQueue } from './write-queue.ts'
import type { WriterMethods } from './writer-thread.ts'

const FILE_CACHE_KIBIBYTES = 1_024
const CLOSE_DEADLINE_MS = 10_000
const OF_CONVERSATION = 'SELECT 1 FROM documents WHERE conversation IS NOT NULL LIMIT 1'

interface SqliteStoreOptions {
  /** Created if missing; used by one process at a time. */
  directory: string
  /** The most documents that may be queued for ingestion or in progress. */
  queueLimit: number
  /** `try` if absent. */
  copyPolicy?: CopyPolicy
  log?: Pick<Log, 'info' | 'warn'>
  /** Called once if the writer thread crashes; from then on every call throws `store_unavailable`. */
  onCrash: (error: Error) => void
}

/**
 * Opens the document store in a directory on a local disk, and creates or migrates it if necessary. Throws
 * `store_unavailable`, with the remedy, if the directory is in use or of a newer server.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { directory, queueLimit, copyPolicy = 'try', log, onCrash } = options
  const file = join(directory, DATABASE_FILE)
  await makeDirectory(directory)
  const lock = lockDirectory(directory)
  let ended: AppError | undefined
  let opened = false
  const writer = startThread<WriterMethods>(new URL('./writer-thread.ts', import.meta.url), {
    onCrash(error) {
      ended ??= unavailable('The document store has lost its writer', error)
      if (opened) onCrash(error)
    },
  })

  try {
    const { copy, isWithoutCopy, ...schema } = await writer.call('open', {
      file,
      queueLimit,
      copyPolicy,
    })
    if (copy) log?.info({ copy }, 'the document store was copied before its upgrade')
    if (isWithoutCopy) log?.warn({ file }, 'the disk had no room for a copy before the upgrade')
    log?.info({ file, schema }, 'document store opened')
    await keepPrivate(file, log)
    const queue = new WriteQueue({ send: (group) => writer.call('write', group) })
    const write = callsOf(createWrites(SQLITE, queueLimit), (each) => queue.write(each))
    const { closeReaders, ...reads } = openReaders(file, write, () => {
      if (ended) throw ended
    })
    opened = true

    const close = async () => {
      await queue.close()
      // Readers close first: the last connection to close merges the log into the database.
      await closeReaders()
      try {
        await untilAborted(writer.call('close', undefined), AbortSignal.timeout(CLOSE_DEADLINE_MS))
      } catch (error) {
        log?.warn({ err: error }, 'document store not closed cleanly; the next start recovers it')
      }
      await writer.terminate()
      lock.release()
    }
    let closing: Promise<void> | undefined
    return {
      ...reads,
      close() {
        ended ??= unavailable('The document store is closed')
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await writer.terminate()
    lock.release()
    throw error
  }
}

/** Only one process uses the directory, and it makes vectors in one place. */
const exclusively: VectorReplacement['exclusively'] = async (work, signal) => {
  await work(signal)
  return true
}

const withExclusiveLock: OpenedStore['withExclusiveLock'] = (_name, work, signal) =>
  exclusively(work, signal)

const OWN_CLAIMS: Claims = {
  claimant: () => ({ owner: 'self', leaseMs: NO_LEASE_MS, claims: [] }),
  track: () => undefined,
  release: () => undefined,
  notifyJob: () => undefined,
  notifyDocument: () => undefined,
}

/** The queries; they see every commit at once. `refuse` throws while no queries are allowed. */
function openReaders(file: string, write: WriteCalls, refuse: () => void) {
  const reader = openForReading(file)
  // A separate connection, because files would fill the cache.
  const fileReader = openForReading(file, FILE_CACHE_KIBIBYTES)
  const readOn = (database: DatabaseSync): Read => {
    const run = createRunner(database)
    return async (statement, values) => {
      refuse()
      try {
        return run.all(statement, values)
      } catch (error) {
        throw toStoreError(error)
      }
    }
  }
  const read = readOn(reader)
  const lookups = createLookups(file, refuse)
  const { close: closeLookups, conversations, audit, usage, lookup, ...documentReads } = lookups
  /** Most servers have no such documents, and need no thread to see it. */
  const goneConversations: typeof lookup.goneConversations = async (...query) =>
    (await read(OF_CONVERSATION)).length === 0 ? [] : lookup.goneConversations(...query)
  const { replacement, ...store } = createStore({
    write,
    read,
    readFiles: readOn(fileReader),
    dialect: SQLITE,
    claims: OWN_CLAIMS,
  })
  return {
    ...store,
    ...documentReads,
    lookup: { ...lookup, goneConversations },
    conversations: { ...store.conversations, ...searchedIn(conversations, store.conversations) },
    audit: { ...store.audit, ...audit },
    usage: { ...store.usage, ...usage },
    visibleKeys: createVisibleKeys(read, lookups.visibleKeys),
    withExclusiveLock,
    replacement: { ...replacement, exclusively },

    async check(signal: AbortSignal) {
      requireRoom(dirname(file), LEFT_FREE_BYTES)
      return store.check(signal)
    },

    async closeReaders() {
      await closeLookups()
      fileReader.close()
      reader.close()
    },
  }
}
