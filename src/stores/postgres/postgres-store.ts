import type { ArtifactStore } from '../artifact-store.ts'
import { createChunkKeyAllocator } from '../chunk-keys.ts'
import type { DocumentStore, VectorReplacement } from '../document-store.ts'
import type { OpenLockFile } from '../lock-file.ts'
import type { DocumentLookup } from '../lookup.ts'
import type { ChangeNotifications, Outbox } from '../outbox.ts'
import { integer } from '../rows.ts'
import type { SkillCopies } from '../skill-copies.ts'
import { createArtifacts, createLockFiles, createSkillCopies } from './artifacts.ts'
import { createChunkReads } from './chunks.ts'
import { awaitDatabase, type StartDeadline } from './connection.ts'
import { refuseHalfCorpus } from './corpus-writes.ts'
import { checkDatabase, openDatabase, type Query } from './database.ts'
import { createDocumentWrites, createReads } from './documents.ts'
import { createFiles } from './files.ts'
import { createJobWrites, createLeases } from './jobs.ts'
import { createLookup } from './lookup.ts'
import { migrate } from './migrate.ts'
import { createChangeNotifications } from './notifications.ts'
import { createOutbox } from './outbox.ts'
import { createVectorReads, createVectorReplacement } from './vectors.ts'

const RESERVE: Query = {
  name: 'reserve_chunk_keys',
  text: 'SELECT agent_server.reserve_chunk_keys($1) AS first',
}

/** Keys of an hour ago are refused: see `complete_job` in the schema. */
const KEY_BLOCKS = { keysPerBlock: 1_024, freshMs: 1_200_000 }

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface PostgresStoreOptions {
  /** `postgres://…`; never shown. */
  url: string
  /** The most connections that are used at a time, beside the one that listens. */
  poolSize: number
  /** The most documents that may wait for ingestion or be in it, of all servers together. */
  queueLimit: number
  /** How long the claims of a server that has died stay with it. */
  leaseMs?: number
  /** How long to wait for a database that is away; without, it must be there. */
  deadline?: StartDeadline | undefined
  log: Log
}

export interface PostgresStore extends DocumentStore, ChangeNotifications {
  /** Makes all vectors anew. */
  readonly replacement: VectorReplacement
  readonly lookup: DocumentLookup
  readonly outbox: Outbox
  /** What the agents of all servers keep. */
  readonly agent: { artifacts: ArtifactStore; openLockFile: OpenLockFile; skillCopies: SkillCopies }
}

/**
 * Opens the document store in a PostgreSQL database, which any number of servers may share; its schema is made or
 * migrated if need be. Throws `store_unavailable`, saying what to do.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, poolSize, queueLimit, leaseMs, deadline, log } = options
  await awaitDatabase({ url, log, deadline })
  const migration = await migrate(url)
  await refuseHalfCorpus(url)
  log.info({ schema: migration }, 'document store opened')
  const database = openDatabase({ url, size: poolSize, log })
  const leases = createLeases({ database, log, milliseconds: leaseMs })
  const notifications = createChangeNotifications({ url, database, owner: leases.owner, log })
  const { dropForgotten, ...files } = createFiles(database)
  await dropForgotten()
  let closing: Promise<void> | undefined

  const close = async () => {
    await notifications.close()
    await leases.close()
    await database.close()
  }

  return {
    ...createDocumentWrites({ database, queueLimit, jobCame: notifications.jobCame }),
    ...createJobWrites({ database, leases, files, ...notifications }),
    ...createReads(database, leases.owner),
    ...createChunkReads(database),
    ...createVectorReads(database),
    ...files,
    reserveChunkKeys: createChunkKeyAllocator(async (count) => {
      const [row] = await database.write(RESERVE, [count])
      return integer(row, 'first')
    }, KEY_BLOCKS),
    replacement: createVectorReplacement(url, database),
    lookup: createLookup(database),
    outbox: createOutbox(database, leases.owner),
    agent: {
      artifacts: createArtifacts(database),
      openLockFile: createLockFiles(database),
      skillCopies: createSkillCopies(database),
    },
    check: (signal) => checkDatabase(database, signal),
    subscribe: notifications.subscribe,
    close: () => (closing ??= close()),
  }
}
