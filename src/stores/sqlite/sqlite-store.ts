import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { startThread } from '../../lib/processes/thread.ts'
import { createChunkKeyAllocator, StaleKeysError } from '../chunk-keys.ts'
import type { Claim } from '../document-store.ts'
import type { OpenedStore, VectorReplacement } from '../opened-store.ts'
import { createChunkReads, createTermReads, createVectorReads } from '../sql/chunks.ts'
import { createDocumentReads, createFiles } from '../sql/documents.ts'
import type { Read } from '../sql/query.ts'
import { integer } from '../sql/rows.ts'
import type { TermCountStore } from '../term-counts.ts'
import {
  createRunner,
  DATABASE_FILE,
  LEFT_FREE_BYTES,
  lockDirectory,
  makeDirectory,
  openForReading,
  requireRoom,
} from './connection.ts'
import { SQLITE, toKeys } from './dialect.ts'
import { toStoreError, unavailable } from './error.ts'
import { createLookups } from './lookup.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'
import type { WriterMethods } from './writer-thread.ts'

const FILE_CACHE_KIBIBYTES = 1_024
const CHECK_DEADLINE_MS = 5_000
const CLOSE_DEADLINE_MS = 10_000

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface SqliteStoreOptions {
  /** Created if missing; used by one process at a time. */
  directory: string
  /** The most documents that may be queued for ingestion or in progress. */
  queueLimit: number
  log?: Log
  /** Called once if the writer thread crashes; from then on every call throws `store_unavailable`. */
  onCrash: (error: Error) => void
}

/**
 * Opens the document store in a directory on a local disk, and creates or migrates it if necessary. Throws
 * `store_unavailable`, with the remedy, if the directory is in use or of a newer server.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { directory, queueLimit, log, onCrash } = options
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
    const migration = await writer.call('open', { file, queueLimit })
    log?.info({ file, schema: migration }, 'document store opened')
    const queue = createWriteQueue({ send: (group) => writer.call('write', group) })
    const { closeReaders, ...reads } = openReaders(file, queue.write, () => {
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
      ...createWrites(queue.write),
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

/** Everything that changes the database; each call goes through the queue to the writer thread. */
function createWrites(write: WriteQueue['write']) {
  const keys = createChunkKeyAllocator((count) => write('reserveChunkKeys', count))
  /** Chunks with a smaller key are no longer accepted. */
  let least = 0
  const refuseStale = (key = least) => {
    if (key < least) throw new StaleKeysError()
  }

  return {
    add: (document, idempotency) => write('add', document, idempotency),
    put: (document, among, before) => write('put', document, among, before),
    takeSources: (limit, milliseconds) => write('takeSources', limit, milliseconds),
    noteSource: (id, revision, source) => write('noteSource', id, revision, source),
    patchMetadata: (id, patch, reclaim, among) => write('patchMetadata', id, patch, reclaim, among),
    delete: (id, among) => write('delete', id, among),
    retry: (id) => write('retry', id),
    recoverJobs: () => write('recoverJobs'),
    claimJobs: (limit) => write('claimJobs', limit),
    async completeJob(job, chunks, text, terms) {
      refuseStale(chunks[0]?.key)
      return write('completeJob', toClaim(job), chunks, text, terms)
    },
    async completeStaged(job, staged, terms) {
      refuseStale(staged.firstKey)
      return write('completeStaged', toClaim(job), staged, terms)
    },
    noteFile: (job, notes) => write('noteFile', toClaim(job), notes),
    failJob: (job, failure, retryAt) => write('failJob', toClaim(job), failure, retryAt),
    releaseJob: (job, failure) => write('releaseJob', toClaim(job), failure),
    addVectors: (vectors, model) => write('addVectors', vectors, model),
    reserveChunkKeys: keys.take,
    async retireChunkKeys() {
      keys.drop()
      least = await write('reserveChunkKeys', 1)
      // Writes run one after another, so those submitted before have been stored by now.
      await write('check')
    },
    outbox: {
      enable: (isEnabled) => write('enable', isEnabled),
      takeEvents: (limit, milliseconds) => write('takeEvents', limit, milliseconds),
      postponeEvent: (id, dueAt) => write('postponeEvent', id, dueAt),
      removeEvent: (id) => write('removeEvent', id),
    },
  } satisfies Partial<OpenedStore>
}

/** Drops the text of the job, which the writer thread does not need. */
function toClaim({ documentId, claim }: Claim): Claim {
  return { documentId, claim }
}

// One JSON array is read several times faster than a row per key; the indexes avoid reading past texts and vectors.
const CHUNK_KEYS = 'SELECT json_group_array(key) AS keys FROM chunks INDEXED BY chunks_of_document'
const VECTOR_KEYS = 'SELECT json_group_array(key) AS keys FROM vectors INDEXED BY vectors_key'
const NEXT_JOB = 'SELECT run_at FROM jobs WHERE claim IS NULL ORDER BY run_at LIMIT 1'
const LAST_CHECK = "SELECT value FROM meta WHERE name = 'last_check'"

/** Only one process uses the directory, and it makes vectors in one place. */
const alone: VectorReplacement['alone'] = async (work, signal) => {
  await work(signal)
  return true
}

/** The queries; they see every commit at once. `refuse` throws while no queries are allowed. */
function openReaders(file: string, write: WriteQueue['write'], refuse: () => void) {
  const reader = openForReading(file)
  // A separate connection, because files would fill the cache.
  const fileReader = openForReading(file, FILE_CACHE_KIBIBYTES)
  const { close: closeLookups, ...lookups } = createLookups(file, refuse)

  const readOn = (database: DatabaseSync): Read => {
    const run = createRunner(database)
    return async (statement, values) => {
      refuse()
      try {
        return run(statement, values)
      } catch (error) {
        throw toStoreError(error)
      }
    }
  }
  const read = readOn(reader)
  const readOne = async (text: string) => (await read(text))[0]
  const { begun, chunksWithout, ...vectors } = createVectorReads(read, SQLITE)
  return {
    ...createDocumentReads(read, SQLITE),
    ...createChunkReads(read, SQLITE),
    ...vectors,
    terms: {
      ...createTermReads(read, SQLITE),
      count: (document, counted) => write('countTerms', document, counted),
      fold: (numbers, sum) => write('foldTerms', numbers, sum),
    } satisfies TermCountStore,
    ...createFiles(readOn(fileReader), SQLITE, {
      beginFile: () => write('beginFile'),
      addPiece: (number, ordinal, bytes) => write('addPiece', number, ordinal, bytes),
      dropStaged: (number) => write('dropStaged', number),
    }),
    ...lookups,
    chunkKeys: async () => toKeys(await readOne(CHUNK_KEYS)),
    vectorKeys: async () => toKeys(await readOne(VECTOR_KEYS)),
    async nextJobAt() {
      const row = await readOne(NEXT_JOB)
      return row && integer(row, 'run_at')
    },
    backlogAlone: alone,
    replacement: {
      alone,
      begin: (embedding) => write('beginVectors', embedding),
      add: (added) => write('addNextVectors', added),
      finish: () => write('swapVectors'),
      begun,
      chunksWithout,
    } satisfies VectorReplacement,

    async check(signal: AbortSignal) {
      requireRoom(dirname(file), LEFT_FREE_BYTES)
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(CHECK_DEADLINE_MS)])
      try {
        const written = await untilAborted(write('check'), deadline)
        const seen = integer(await readOne(LAST_CHECK), 'value')
        if (seen < written) throw new Error(`Check ${written} was written, but ${seen} was read`)
      } catch (error) {
        throw unavailable('The document store cannot be read and written', error)
      }
    },

    async closeReaders() {
      await closeLookups()
      fileReader.close()
      reader.close()
    },
  }
}
