import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { startThread, type Thread } from '../../lib/thread.ts'
import type { DocumentStore, VectorReplacement } from '../document-store.ts'
import type { DocumentLookup } from '../lookup.ts'
import type { Outbox } from '../outbox.ts'
import { type DirectoryLock, lockDirectory, openForReading } from './connection.ts'
import { createReads } from './documents.ts'
import { unavailable } from './error.ts'
import { createFiles, type Files } from './files.ts'
import { createFiltering, type Filtering } from './filtering.ts'
import { createLookup, type Lookup } from './lookup.ts'
import { createOutbox } from './outbox.ts'
import { createVectorReads, createVectorReplacement } from './vectors.ts'
import {
  createQueuedWrites,
  createWriteQueue,
  type WriteQueue,
  type WriteStatistics,
} from './write-queue.ts'
import type { WriterMethods } from './writer-thread.ts'

const FILE = 'agent-server.db'
const PRIVATE = 0o700
const CHECK_DEADLINE_MS = 5_000
const CLOSE_DEADLINE_MS = 10_000

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface SqliteStoreOptions {
  /** Made if it is missing; used by one process at a time. */
  directory: string
  /** The most documents that may wait for ingestion or be in it. */
  queueLimit: number
  log?: Log
  /** Called once if the writer's thread ends by itself; from then on every call throws `store_unavailable`. */
  onCrash: (error: Error) => void
}

export interface SqliteStore extends DocumentStore {
  /** Writes answered since the start, and the transactions that they took. */
  statistics(): WriteStatistics
  /** Makes all vectors anew. For a process that has the store to itself. */
  readonly replacement: VectorReplacement
  readonly outbox: Outbox
  readonly lookup: DocumentLookup
}

interface Parts {
  lock: DirectoryLock
  writer: Thread<WriterMethods>
  reader: DatabaseSync
  filtering: Filtering
  files: Files
  lookup: Lookup
  queue: WriteQueue
}

/**
 * Opens the document store in a directory on this machine's disk, made or migrated if need be.
 * Throws `store_unavailable`, saying what to do, when the directory is in use or of a newer server.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { directory, queueLimit, log, onCrash } = options
  const file = join(directory, FILE)
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
    const migration = await writer.call('open', { file, queueLimit })
    log?.info({ file, schema: migration }, 'document store opened')
    const reader = openForReading(file)
    const queue = createWriteQueue({ send: (group) => writer.call('write', group) })
    const refuse = () => {
      if (ended) throw ended
    }
    const { lastCheck, ...reads } = createReads(reader, refuse)
    const { nextEmbedding, chunksWithoutNext, ...vectorReads } = createVectorReads(reader, refuse)
    const filtering = createFiltering({ file }, refuse)
    const files = createFiles(queue, file, refuse)
    const lookup = createLookup({ file }, refuse)
    opened = true
    let closing: Promise<void> | undefined
    return {
      ...createQueuedWrites(queue),
      ...files.store,
      ...reads,
      ...vectorReads,
      outbox: createOutbox(queue),
      replacement: createVectorReplacement(queue, { nextEmbedding, chunksWithoutNext }),
      matchingKeys: filtering.matchingKeys,
      lookup,
      statistics: queue.statistics,
      check: (signal) => check(queue, lastCheck, signal),
      close() {
        ended ??= unavailable('The document store is closed')
        closing ??= closeParts({ lock, writer, reader, filtering, files, lookup, queue }, log)
        return closing
      },
    }
  } catch (error) {
    await writer.terminate()
    lock.release()
    throw error
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: PRIVATE })
  } catch (error) {
    throw unavailable(`Cannot make the data directory ${directory}`, error)
  }
}

async function check(
  queue: WriteQueue,
  lastCheck: () => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(CHECK_DEADLINE_MS)])
  try {
    const written = await untilAborted(queue.write({ name: 'check', input: undefined }), deadline)
    const seen = await lastCheck()
    if (seen < written) throw new Error(`Check ${written} was written, but ${seen} was read`)
  } catch (error) {
    throw unavailable('The document store cannot be read and written', error)
  }
}

/** The reader goes first: the last connection to close empties the log into the database. */
async function closeParts(
  { lock, writer, reader, filtering, files, lookup, queue }: Parts,
  log?: Log,
): Promise<void> {
  await queue.close()
  await filtering.close()
  files.close()
  await lookup.close()
  reader.close()
  try {
    await untilAborted(writer.call('close', undefined), AbortSignal.timeout(CLOSE_DEADLINE_MS))
  } catch (error) {
    log?.warn({ err: error }, 'document store not closed cleanly; the next start recovers it')
  }
  await writer.terminate()
  lock.release()
}
