import { untilAborted } from '../../lib/abort.ts'
import { RESPONSE_BOUNDS } from '../artifact-store.ts'
import { createChunkKeyAllocator } from '../chunk-keys.ts'
import type { SharedStore } from '../opened-store.ts'
import { createChunkReads, createVectorReads } from '../sql/chunks.ts'
import { createDocumentReads, createFiles } from '../sql/documents.ts'
import { createLookup } from '../sql/lookup.ts'
import { integer } from '../sql/rows.ts'
import { createArtifacts, createLockFiles, createSkillCopies } from './agent-stores.ts'
import {
  createLaterVectors,
  createTermCountStore,
  createVectorWrites,
  matchingKeys,
  readAllKeys,
} from './chunks.ts'
import { awaitDatabase, type Session, type StartDeadline, withSession } from './connection.ts'
import { refuseHalfCorpus } from './corpus.ts'
import { checkDatabase, openDatabase } from './database.ts'
import { POSTGRES } from './dialect.ts'
import { createDocumentWrites, createFileWrites } from './documents.ts'
import { createJobWrites, createLeases } from './jobs.ts'
import { migrate } from './migrate.ts'
import { createChangeNotifications } from './notifications.ts'
import { createOutbox } from './outbox.ts'

const RESERVE = 'SELECT agent_server.reserve_chunk_keys($1) AS first'

// Another server's claim is due when its lease expires, because that server may have died.
const NEXT_JOB = `SELECT due_at FROM agent_server.jobs WHERE claim IS NULL OR owner <> $1
  ORDER BY due_at LIMIT 1`

const LOOKUP_MS = 30_000

/** Keys reserved an hour ago are refused: see `complete_job` in the schema. */
const KEY_BLOCKS = { keysPerBlock: 1_024, freshMs: 1_200_000 }

/**
 * `complete_job` refuses keys below the mark of 45 minutes ago; this sets that mark to the current next key. As
 * `complete_job` reads the marks before it stores anything, the lock waits for those in progress. The deleted marks
 * were lower.
 */
async function retireKeys({ run }: Session): Promise<void> {
  await run('BEGIN')
  await run('LOCK TABLE agent_server.key_marks IN ACCESS EXCLUSIVE MODE')
  await run('DELETE FROM agent_server.key_marks')
  await run(`INSERT INTO agent_server.key_marks (minute, next_key)
    SELECT agent_server.now_ms() / 60000 - 46, value FROM agent_server.meta WHERE name = 'next_chunk_key'`)
  await run('COMMIT')
}

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface PostgresStoreOptions {
  /** `postgres://…`; never shown. */
  url: string
  /** The most connections in use at a time, besides the one that listens. */
  poolSize: number
  /** The most documents that may be queued for ingestion or in progress, on all servers together. */
  queueLimit: number
  /** How long a server that has died keeps its claims. */
  leaseMs?: number
  /** How long to wait for a database that is down; without it, the database must be up. */
  deadline?: StartDeadline | undefined
  log: Log
}

/**
 * Opens the document store in a PostgreSQL database, which any number of servers may share, and creates or migrates its
 * schema if necessary. Throws `store_unavailable`, with the remedy.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { url, poolSize, queueLimit, leaseMs, deadline, log } = options
  await awaitDatabase({ url, log, deadline })
  const migration = await migrate(url)
  await refuseHalfCorpus(url)
  log.info({ schema: migration }, 'document store opened')
  const database = openDatabase({ url, size: poolSize, log })
  const { dropForgotten, ...fileWrites } = createFileWrites(database)
  // Runs before anything is started that would have to be stopped if this fails.
  await dropForgotten()
  const leases = createLeases({ database, log, milliseconds: leaseMs })
  const notifications = createChangeNotifications({ url, database, owner: leases.owner, log })
  const { read } = database
  const files = createFiles(read, POSTGRES, fileWrites)
  const { begun, chunksWithout, ...vectors } = createVectorReads(read, POSTGRES)
  const keys = createChunkKeyAllocator(async (count) => {
    const [row] = await database.write(RESERVE, [count])
    return integer(row, 'first')
  }, KEY_BLOCKS)
  const { list, countListed, ...lookup } = createLookup(
    (statement, values, signal) => unlessAborted(() => read(statement, values, LOOKUP_MS), signal),
    POSTGRES,
  )
  let closing: Promise<void> | undefined

  const close = async () => {
    await notifications.close()
    await leases.close()
    await database.close()
  }

  return {
    ...createDocumentWrites({ database, queueLimit, jobCame: notifications.jobCame }),
    ...createJobWrites({ database, leases, files, dropKeys: keys.drop, ...notifications }),
    ...createDocumentReads(read, POSTGRES),
    ...createChunkReads(read, POSTGRES),
    ...vectors,
    ...createLaterVectors(url, database),
    terms: createTermCountStore(database),
    ...files,
    chunkKeys: () => readAllKeys(database, 'chunks'),
    vectorKeys: () => readAllKeys(database, 'vectors'),
    matchingKeys: (filter, signal) => unlessAborted(() => matchingKeys(database, filter), signal),
    async nextJobAt() {
      const [row] = await read(NEXT_JOB, [leases.owner])
      return row && integer(row, 'due_at')
    },
    reserveChunkKeys: keys.take,
    retireChunkKeys: () => withSession(url, retireKeys),
    replacement: { ...createVectorWrites(url, database), begun, chunksWithout },
    lookup,
    list,
    countListed,
    outbox: createOutbox(database, leases.owner),
    agent: {
      artifacts: createArtifacts(database),
      responses: createArtifacts(database, RESPONSE_BOUNDS, 'response'),
      openLockFile: createLockFiles(database),
      skillCopies: createSkillCopies(database),
    },
    check: (signal) => checkDatabase(database, signal),
    subscribe: notifications.subscribe,
    close: () => (closing ??= close()),
  }
}

async function unlessAborted<Result>(begin: () => Promise<Result>, signal?: AbortSignal) {
  signal?.throwIfAborted()
  return signal ? untilAborted(begin(), signal) : begin()
}
