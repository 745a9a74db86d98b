import { createHash } from 'node:crypto'
import { untilAborted } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { COUNTING, createTurns, searchedIn } from '../look-ups-in-turn.ts'
import type { CopyPolicy, LockName, SharedStore } from '../opened-store.ts'
import { readVisibleKeys } from '../sql/chunks.ts'
import { noteChange } from '../sql/counts.ts'
import { createLookup } from '../sql/lookup.ts'
import { createStore } from '../sql/store.ts'
import { createVisibleKeys } from '../sql/visible-keys.ts'
import { callsOf, createWrites, isVisible, runWrite, type WriteName } from '../sql/writes.ts'
import { awaitDatabase, holdLock, type StartDeadline } from './connection.ts'
import { refuseHalfCorpus } from './corpus.ts'
import { openDatabase } from './database.ts'
import { POSTGRES } from './dialect.ts'
import { unavailable } from './error.ts'
import { createLeases } from './leases.ts'
import { migrate, STEPS } from './migrate.ts'
import { createChangeNotifications } from './notifications.ts'

const LOOKUP_MS = 30_000

/** How long the statements of a write may take if not `ANSWER_MS`: a text may be as long as a request body. */
const LONG_MS: Partial<Record<WriteName, number>> = {
  add: 30_000,
  put: 30_000,
  claimJobs: 60_000,
  completeJob: 60_000,
  completeStaged: 60_000,
  addVectors: 60_000,
  addNextVectors: 60_000,
  swapVectors: 60_000,
  endLeases: 2_000,
  check: 5_000,
  keepSkills: 60_000,
  addArtifact: 30_000,
  addItems: 30_000,
  writeAnswer: 30_000,
}

/** A file that no document took is dropped this long after its last piece was added. */
const FORGOTTEN_MS = 24 * 3_600_000

/** The second half of advisory locks that are held while work is in progress. */
const REPLACEMENT_LOCK = 6
const LOCKS: Record<string, number> = { vectors: 7, contexts: 13, pictures: 14 }
/** That of a folder is negative, unlike all others. */
const lockOf = (name: LockName) =>
  LOCKS[name] ??
  -1 - (createHash('sha256').update(name.slice('folder:'.length)).digest().readUInt32BE() >>> 1)

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
  copyPolicy?: CopyPolicy
  log: Pick<Log, 'info' | 'warn'>
}

/**
 * Opens the document store in a PostgreSQL database, which any number of servers may share, and creates or migrates its
 * schema if necessary. Throws `store_unavailable`, with the remedy.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { url, poolSize, queueLimit, leaseMs, deadline, copyPolicy, log } = options
  await awaitDatabase({ url, log, deadline })
  const migration = await migrate(url, STEPS, copyPolicy)
  await refuseHalfCorpus(url)
  log.info({ schema: migration }, 'document store opened')
  const database = openDatabase({ url, size: poolSize, log })
  const writes = createWrites(POSTGRES, queueLimit)
  const write = callsOf(writes, (each) =>
    database.transaction(async (tx) => {
      const output = await runWrite(writes, tx, each)
      if (isVisible(each)) await noteChange(tx, POSTGRES)
      return output
    }, LONG_MS[each.name]),
  )
  // These run before anything is started that would have to be stopped if they fail, as on a standby.
  await write.check()
  await write.dropForgotten(FORGOTTEN_MS)
  const leases = createLeases({ write, log, milliseconds: leaseMs })
  const { owner } = leases.claimant()
  const notifications = createChangeNotifications({ url, database, owner, log })
  const { read } = database
  const { replacement, ...store } = createStore({
    write,
    read,
    readFiles: read,
    dialect: POSTGRES,
    claims: { ...leases, ...notifications },
  })
  const { list, countListed, ...lookup } = createLookup(
    (statement, values, signal) => unlessAborted(() => read(statement, values, LOOKUP_MS), signal),
    POSTGRES,
  )
  // What is short finds a connection, whoever looks through everything.
  const capacity = Math.ceil(poolSize / 4)
  const inTurn = createTurns({ name: 'look-ups', capacity, unavailable })
  const turnFor =
    <Input, Output>(lookUp: (of: Visibility, input: Input) => Promise<Output>) =>
    (of: Visibility, input: Input, signal?: AbortSignal) =>
      inTurn(of, () => lookUp(of, input), signal)
  const { conversations, audit, usage } = store
  const searches: typeof conversations = {
    ...conversations,
    list: (reader, query) => inTurn({ reader }, () => conversations.list(reader, query)),
    listShared: (of, query) =>
      inTurn({ reader: of.owner }, () => conversations.listShared(of, query)),
  }
  let closing: Promise<void> | undefined

  const close = async () => {
    await notifications.close()
    await leases.close()
    await database.close()
  }

  return {
    ...store,
    visibleKeys: createVisibleKeys(read, (of) => readVisibleKeys(read, POSTGRES, of)),
    withExclusiveLock: (name, work, signal) => holdLock({ url, lock: lockOf(name) }, work, signal),
    replacement: {
      ...replacement,
      exclusively: (work, signal) => holdLock({ url, lock: REPLACEMENT_LOCK }, work, signal),
    },
    lookup: {
      ...lookup,
      findDocuments: turnFor(lookup.findDocuments),
      countDocuments: turnFor(lookup.countDocuments),
      collections: turnFor(lookup.collections),
      goneConversations: turnFor(lookup.goneConversations),
      metadataFields: turnFor(lookup.metadataFields),
      metadataValues: turnFor(lookup.metadataValues),
    },
    list: turnFor(list),
    countListed: turnFor(countListed),
    conversations: { ...conversations, ...searchedIn(searches, conversations) },
    audit: { ...audit, list: (query) => inTurn(query, () => audit.list(query)) },
    usage: { ...usage, sum: (query) => inTurn(query, () => usage.sum(query)) },
    countRows: (tables) => inTurn(COUNTING, () => store.countRows(tables)),
    tableBytes: () => inTurn(COUNTING, store.tableBytes),
    subscribe: notifications.subscribe,
    close: () => (closing ??= close()),
  }
}

async function unlessAborted<Result>(begin: () => Promise<Result>, signal?: AbortSignal) {
  signal?.throwIfAborted()
  return signal ? untilAborted(begin(), signal) : begin()
}
