import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { Ingestion } from '../services/ingestion/create-ingestion.ts'
import type { Settlement } from '../services/ingestion/settlement.ts'
import type { DocumentLookup } from '../stores/document-lookup.ts'
import type { DocumentStore, VectorReplacement } from '../stores/document-store.ts'
import type { Outbox } from '../stores/outbox.ts'
import type { Patience } from '../stores/postgres/await-database.ts'
import { createPostgresStore } from '../stores/postgres/postgres-store.ts'
import { createSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { StoreNews } from '../stores/store-news.ts'
import type { AgentStores } from './agent-stores.ts'

export interface OpenedStore extends DocumentStore {
  /** Makes all vectors anew. */
  readonly replacement: VectorReplacement
  readonly lookup: DocumentLookup
  readonly outbox: Outbox
  /** What the agent keeps; absent where no other server can share the store. */
  readonly agent?: AgentStores
  /** Absent where no other server can share the store. */
  subscribe?: StoreNews['subscribe']
}

/** The authority that is configured: in PostgreSQL, or in this process and in `DATA_DIR`. With patience one that is away is waited for. */
export async function openStore(
  config: Config,
  log: FastifyBaseLogger,
  onFatal: (error: Error) => void,
  patience?: Patience,
): Promise<OpenedStore> {
  const queueLimit = config.INGEST_QUEUE_LIMIT
  if (config.DATABASE_URL !== undefined) {
    const { DATABASE_URL: url, DATABASE_POOL: poolSize } = config
    return createPostgresStore({ url, poolSize, queueLimit, patience, log })
  }
  return createSqliteStore({ directory: config.DATA_DIR, queueLimit, onCrash: onFatal, log })
}

/** Passes on what other servers on the same store do. */
export function listenToOthers(
  store: OpenedStore,
  ingestion: Pick<Ingestion, 'wake'>,
  settlement: Pick<Settlement, 'ended'>,
): void {
  store.subscribe?.({
    jobCame: ingestion.wake,
    documentEnded: (id) => settlement.ended(id === undefined ? undefined : { documentId: id }),
  })
}
