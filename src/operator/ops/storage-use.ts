import { MAX_KEYS } from '@agent-server/schemas/operator/api-key.ts'
import type { StorageUse } from '@agent-server/schemas/operator/storage-use.ts'
import {
  ARTIFACT_BOUNDS,
  CONVERSATION_BOUNDS,
  MAX_EVALUATIONS,
  MAX_FEEDBACK,
  MAX_QUESTIONS,
  MAX_SHARED,
  type OpenedStore,
  PEOPLE_BOUNDS,
  RUN_BOUNDS,
} from '@agent-server/stores'
import { MAX_ENTRIES } from '../audit/audit.ts'
import { MOST_SESSIONS } from '../people/person-sessions.ts'

type Settings = Readonly<Record<'AUDIT_DAYS' | 'RUNS_KEPT' | 'USAGE_DAYS', number>>
type Bound = Pick<StorageUse, 'retention' | 'bound' | 'most' | 'whenFull'>

const OF_EACH = 'of each person or key'
const inDays = (milliseconds: number) => `${milliseconds / 86_400_000} days`
const number = (count: number) => count.toLocaleString('en')
const size = (bytes: number) => `${number(bytes / 1_000_000)} MB`
const rolling = (most: number, retention: string): Bound => ({
  retention,
  most,
  bound: number(most),
  whenFull: 'oldest-removed',
})
const refusing = (most: number): Bound => ({
  retention: 'until deleted',
  most,
  bound: number(most),
  whenFull: 'refused',
})

/** What grows, by its table: what it is called, and how far it grows. */
const GROWING: Record<string, [name: string, bound: (settings: Settings) => Bound]> = {
  documents: [
    'documents',
    () => ({ retention: 'until deleted', bound: 'as many as the disk holds' }),
  ],
  conversations: [
    'conversations',
    () => ({
      retention: `${inDays(CONVERSATION_BOUNDS.maximumAgeMs)} after the last change`,
      bound: `${number(CONVERSATION_BOUNDS.maximumCount)} and ${size(CONVERSATION_BOUNDS.maximumTotalBytes)} ${OF_EACH}`,
      whenFull: 'oldest-removed',
    }),
  ],
  feedback: [
    'ratings',
    () => ({
      retention: 'as long as the answer',
      bound: `${number(MAX_FEEDBACK)} ${OF_EACH}`,
      whenFull: 'oldest-removed',
    }),
  ],
  artifacts: [
    'files and responses',
    () => ({
      retention: `${inDays(ARTIFACT_BOUNDS.artifact.maximumAgeMs)}, responses ${inDays(ARTIFACT_BOUNDS.response.maximumAgeMs)}`,
      bound: `${number(ARTIFACT_BOUNDS.artifact.maximumCount)} and ${size(ARTIFACT_BOUNDS.artifact.maximumTotalBytes)} of each kind`,
      whenFull: 'oldest-removed',
    }),
  ],
  runs: ['runs', ({ RUNS_KEPT }) => rolling(RUNS_KEPT, inDays(RUN_BOUNDS.maximumAgeMs))],
  judged_questions: ['judged questions', () => refusing(MAX_QUESTIONS)],
  evaluations: ['evaluations', () => rolling(MAX_EVALUATIONS, 'until deleted')],
  model_usage: [
    'rows of usage',
    ({ USAGE_DAYS }) => ({
      retention: `${USAGE_DAYS} days`,
      bound: 'one a day for each person, key, agent and model',
    }),
  ],
  audit: [
    'entries of the audit log',
    ({ AUDIT_DAYS }) => rolling(MAX_ENTRIES, `${AUDIT_DAYS} days`),
  ],
  people: ['people', () => rolling(PEOPLE_BOUNDS.most, `${inDays(PEOPLE_BOUNDS.unseenMs)} unseen`)],
  sessions: ['sessions', () => rolling(MOST_SESSIONS.inAll, '8 hours without use')],
  api_keys: ['keys', () => refusing(MAX_KEYS)],
  collections: ['shared collections', () => refusing(MAX_SHARED)],
}

const GROWING_TABLES = Object.keys(GROWING)

/** Tables that belong to another, and grow with it. */
const BELONG: Record<string, readonly string[]> = {
  documents: [
    'contents',
    'metadata',
    'files',
    'file_pieces',
    'sources',
    'replacements',
    'idempotency_keys',
    'chunks',
    'chunk_contexts',
    'picture_chunks',
    'vectors',
    'next_vectors',
  ],
  conversations: ['conversation_items'],
  model_usage: ['usage_groups'],
  api_keys: ['api_key_use'],
  collections: ['access_entries', 'collection_access', 'collection_names', 'reserved_collections'],
}

/** What grows, as far as its rows were counted. */
export function storageUseOf(
  settings: Settings,
  counts: ReadonlyMap<string, number>,
  bytes: ReadonlyMap<string, number> = new Map(),
): StorageUse[] {
  return Object.entries(GROWING).flatMap(([table, [name, bound]]) => {
    const count = counts.get(table)
    if (count === undefined) return []
    const tables = [table, ...(BELONG[table] ?? [])]
    const bytesTaken = tables.reduce((sum, one) => sum + (bytes.get(one) ?? 0), 0)
    return { name, count, ...(bytes.has(table) && { bytes: bytesTaken }), ...bound(settings) }
  })
}

/** What is measured is good for so many times as long as that took. */
const WORTH = 100

/**
 * Returns a function that counts what there is, and measures it, but no more than a hundredth of the time. What cannot
 * be measured is counted alone.
 */
export function createStorageUse(
  settings: Settings,
  store: Pick<OpenedStore, 'countRows' | 'tableBytes'>,
): () => Promise<StorageUse[]> {
  let measured: Promise<ReadonlyMap<string, number>> | undefined
  let until = 0
  const measure = async () => {
    const start = performance.now()
    try {
      return await store.tableBytes()
    } finally {
      until = performance.now() + WORTH * (performance.now() - start)
    }
  }
  return async () => {
    const counts = await store.countRows(GROWING_TABLES)
    if (!measured || performance.now() > until) {
      until = Number.POSITIVE_INFINITY
      measured = measure().catch(() => new Map())
    }
    return storageUseOf(settings, counts, await measured)
  }
}
