import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { loadConfiguration } from '../services/agent/configuration.ts'
import { isRemoteSource } from '../services/skills/remote.ts'
import { moveAccepted } from '../services/transfer/move-corpus.ts'
import { RESPONSE_BOUNDS } from '../stores/artifact-store.ts'
import type { Corpus } from '../stores/corpus.ts'
import { createFileArtifactStore } from '../stores/files/artifacts.ts'
import { fileLockFiles } from '../stores/files/lock-file.ts'
import { createFileSkillCopies } from '../stores/files/skill-copies.ts'
import type { AgentStores, OpenedStore, SharedStore } from '../stores/opened-store.ts'
import type { StartDeadline } from '../stores/postgres/connection.ts'
import { createSqliteCorpus } from '../stores/sqlite/corpus.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'

/** A document store; members of `SharedStore` are absent if no other server can have it open. */
export type AnyStore = OpenedStore & Partial<SharedStore>

/**
 * Opens the document store that is configured: PostgreSQL, or SQLite in `DATA_DIR`. With a deadline, waits for an
 * unreachable database.
 */
export async function openStore(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  deadline?: StartDeadline,
): Promise<AnyStore> {
  const queueLimit = config.INGEST_QUEUE_LIMIT
  if (config.DATABASE_URL !== undefined) {
    const { DATABASE_URL: url, DATABASE_POOL: poolSize } = config
    const { createPostgresStore } = await import('../stores/postgres/postgres-store.ts')
    return createPostgresStore({ url, poolSize, queueLimit, deadline, log })
  }
  return createSqliteStore({ directory: config.DATA_DIR, queueLimit, onCrash: onFatal, log })
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

/** The whole corpus of the configured document store. */
export async function openCorpus({ DATABASE_URL, DATA_DIR }: Config): Promise<Corpus> {
  if (DATABASE_URL !== undefined) {
    const { createPostgresCorpus } = await import('../stores/postgres/corpus.ts')
    return createPostgresCorpus(DATABASE_URL)
  }
  return createSqliteCorpus({ directory: DATA_DIR, derived: [join(DATA_DIR, 'index')] })
}

/** Stores for what agents keep: in the document store if servers share one, otherwise in `DATA_DIR`. */
export async function openAgentStores(
  config: Config,
  { agent }: { agent?: AgentStores },
): Promise<AgentStores> {
  if (agent) return agent
  const directory = (name: string) => join(config.DATA_DIR, name)
  return {
    artifacts: await createFileArtifactStore({ directory: directory('artifacts') }),
    responses: await createFileArtifactStore({
      ...{ directory: directory('responses'), ...RESPONSE_BOUNDS },
    }),
    ...(await openAcceptedFiles(config)),
  }
}

/** Stores for accepted definitions of MCP servers and remote skills, in `DATA_DIR`. */
async function openAcceptedFiles({
  DATA_DIR: directory,
}: Config): Promise<Omit<AgentStores, 'artifacts' | 'responses'>> {
  const openLockFile = fileLockFiles(directory)
  const copies = { openLockFile, directory: join(directory, 'skills') }
  return { openLockFile, skillCopies: await createFileSkillCopies(copies) }
}

/** Moves accepted definitions of MCP servers and remote skills from `DATA_DIR` to the shared document store. */
export async function shareAccepted(config: Config, log: FastifyBaseLogger): Promise<void> {
  const { configuration } = await loadConfiguration(config.AGENT_CONFIG)
  const sources = configuration.skills.sources.filter(isRemoteSource)
  await withStore(config, log, async ({ agent }) => {
    if (agent) await moveAccepted(await openAcceptedFiles(config), agent, sources)
  })
}
