import { randomUUID } from 'node:crypto'
import type { Log } from '@agent-server/lib/log.ts'
import { z } from 'zod'
import type { AliasChange, NewCollection, PayloadIndex, Quantization } from './api.ts'
import {
  isMissingCollection,
  isOutOfIndexes,
  LIMITS_TOO_LOW,
  type QdrantConnection,
  QdrantRefusal,
  unavailable,
} from './connection.ts'
import { IS } from './payload.ts'
import type { CollectionSettings, MemoryPlacement } from './settings.ts'

/** How long Qdrant may take for a change of collections, which involves every node of a cluster. */
const CHANGE_MS = 60_000
/** If a node is down, Qdrant uses up its time, and then answers that the change is made. */
const WHOLE_MS = CHANGE_MS + 10_000
const WHOLE = { deadlineMs: WHOLE_MS, attemptMs: WHOLE_MS }
const CHANGE = { query: { timeout: String(CHANGE_MS / 1_000) }, ...WHOLE }
const CONFLICTS = [400, 409]

const Success = z.literal(true)
const Aliases = z.object({
  aliases: z.array(z.object({ alias_name: z.string(), collection_name: z.string() })),
})
const Names = z.object({ collections: z.array(z.object({ name: z.string() })) })
const Info = z.object({
  config: z.object({
    metadata: z.unknown().optional(),
    params: z.object({ write_consistency_factor: z.int().nullish() }).default({}),
    strict_mode_config: z
      .object({ enabled: z.boolean().nullish(), max_payload_index_count: z.int().nullish() })
      .nullish(),
  }),
  payload_schema: z.record(z.string(), z.unknown()),
})
const Change = z.object({ status: z.string() })

export type Collections = ReturnType<typeof createCollections>

/** Manages collections behind fixed aliases: when a collection is rebuilt, its alias is moved to the new one. */
export function createCollections({ call }: QdrantConnection, log?: Pick<Log, 'warn'>) {
  const aliases = async (signal?: AbortSignal) => {
    const answer = await call({ method: 'GET', path: '/aliases', result: Aliases }, signal)
    return new Map(answer.aliases.map((each) => [each.alias_name, each.collection_name]))
  }

  const info = (name: string, signal?: AbortSignal) =>
    call({ method: 'GET', path: pathOf(name), result: Info }, signal)

  /**
   * Creates a payload index unless it exists. Resolves when all points are indexed; to false if there is none, because
   * the collection may not have more.
   */
  const index = async (name: string, body: PayloadIndex, signal?: AbortSignal) => {
    const bounds = { query: { wait: 'true' }, ...WHOLE, result: Change }
    const request = { method: 'PUT', path: `${pathOf(name)}/index`, body, ...bounds } as const
    try {
      const { status } = await call(request, signal)
      if (status === 'completed') return true
    } catch (error) {
      if (!isOutOfIndexes(error)) throw error
      return Object.hasOwn((await info(name, signal)).payload_schema, body.field_name)
    }
    throw unavailable('The search index has not taken a change in time')
  }

  return {
    index,

    /** The collection to which an alias currently points. */
    behind: async (alias: string, signal?: AbortSignal) => (await aliases(signal)).get(alias),

    /** The names of all collections, whether ours or not. */
    async names(signal?: AbortSignal) {
      const request = { method: 'GET', path: '/collections', result: Names } as const
      return (await call(request, signal)).collections.map(({ name }) => name)
    },

    /** The metadata stored with a collection. */
    async metadata(name: string, signal?: AbortSignal): Promise<unknown> {
      return (await info(name, signal)).config.metadata
    },

    /** The keys that have a payload index, and how many indexes the collection may have. */
    async indexed(name: string, signal?: AbortSignal) {
      const { payload_schema, config } = await info(name, signal)
      const { enabled, max_payload_index_count } = config.strict_mode_config ?? {}
      const allowed = (enabled ? max_payload_index_count : undefined) ?? Number.POSITIVE_INFINITY
      return { keys: Object.keys(payload_schema), allowed }
    },

    /** Creates a collection and its payload index for equality, unless they exist. */
    async create(name: string, body: NewCollection, memory: MemoryPlacement, signal?: AbortSignal) {
      using _watch = sayWhenSlow(name, log)
      try {
        await call({ method: 'PUT', path: pathOf(name), body, result: Success, ...CHANGE }, signal)
      } catch (error) {
        // It may exist: another server was faster, or an earlier attempt was interrupted.
        if (!(error instanceof QdrantRefusal) || !CONFLICTS.includes(error.status)) throw error
        await info(name, signal).catch(() => Promise.reject(error))
      }
      const isMade = await index(
        name,
        { field_name: IS, field_schema: { type: 'keyword', memory } },
        signal,
      )
      if (!isMade) throw unavailable(LIMITS_TOO_LOW)
    },

    /** Points aliases to these collections, or deletes them if undefined, in one atomic step. */
    async serve(names: Readonly<Record<string, string | undefined>>, signal?: AbortSignal) {
      const existing = await aliases(signal)
      const actions = Object.entries(names).flatMap(
        ([alias_name, collection_name]): AliasChange[] => {
          const freed = existing.has(alias_name) ? [{ delete_alias: { alias_name } }] : []
          if (collection_name === undefined) return freed
          return [...freed, { create_alias: { alias_name, collection_name } }]
        },
      )
      const request = { method: 'POST', path: '/collections/aliases', body: { actions } } as const
      await call({ ...request, result: Success, ...CHANGE }, signal)
    },

    async drop(name: string, signal?: AbortSignal) {
      const request = { method: 'DELETE', path: pathOf(name), result: z.boolean() } as const
      await call({ ...request, ...CHANGE }, signal)
    },
  }
}

/** A unique id of a collection, which differs even from earlier ones of the same name; undefined if there is none. */
export async function identityOf(
  collections: Pick<Collections, 'metadata'>,
  name: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return Identity.parse(await collections.metadata(name, signal)).made
  } catch (error) {
    if (isMissingCollection(error)) return undefined
    throw error
  }
}

/** Creating a collection usually takes less than a second, but waits for every node, even one that is down. */
const SLOW_MS = 5_000

function sayWhenSlow(collection: string, log: Pick<Log, 'warn'> | undefined): Disposable {
  const say = () =>
    log?.warn({ collection }, 'Qdrant is taking long to create a collection: a node may be down')
  const timer = setInterval(say, SLOW_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Sets the write consistency factor if it differs. Idempotent, so servers may do it at the same time. */
export async function setWriteConsistency(
  { call }: QdrantConnection,
  name: string,
  copies: number,
  signal?: AbortSignal,
): Promise<void> {
  const path = pathOf(name)
  const { config } = await call({ method: 'GET', path, result: Info }, signal)
  const factor = config.params.write_consistency_factor
  if (factor == null || factor === copies) return
  const body = { params: { write_consistency_factor: copies } }
  await call({ method: 'PATCH', path, body, result: Success, ...CHANGE }, signal)
}

export function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`
}

/** Increment when older or newer servers could not use the collections. */
const LAYOUT = 6
// Stored with every collection and part of its name: must never change.
export const TERMS = 'terms'
export const DENSE = 'vectors'

const Identity = z.object({
  /** Random id given at creation; empty for collections of earlier versions. */
  made: z.string().default(''),
})

/** Metadata stored with a collection, so that no server mistakes it for another. */
export const TermsMetadata = Identity.extend({
  layout: z.literal(LAYOUT),
  kind: z.literal(TERMS),
  /** `Analyser.fingerprint`. */
  analyser: z.string(),
})
export type TermsMetadata = z.output<typeof TermsMetadata>

export const VectorsMetadata = Identity.extend({
  layout: z.literal(LAYOUT),
  kind: z.literal(DENSE),
  /** Changes when all vectors are recomputed. */
  fingerprint: z.string(),
  dimension: z.int().positive(),
})
export type VectorsMetadata = z.output<typeof VectorsMetadata>

/** A new collection of terms. Qdrant multiplies their weights by the idf that a term has in its shard. */
export function termsCollection(
  about: Pick<TermsMetadata, 'analyser'>,
  settings: CollectionSettings,
): NewCollection {
  return {
    ...spread(settings),
    vectors: {},
    sparse_vectors: {
      [TERMS]: { modifier: 'idf', index: { memory: settings.termsMemory } },
    },
    metadata: {
      layout: LAYOUT,
      kind: TERMS,
      made: randomUUID(),
      ...about,
    } satisfies TermsMetadata,
  }
}

/**
 * Among so few points of a segment, all that a filter takes are compared: the graph, whose links lead past what it does
 * not take, finds a third of the nearest ten where it takes 7 %, in more time. Measured, see docs/internals/qdrant.md.
 */
const FULL_SCAN = 40_000
/** Qdrant takes vectors for 32-bit numbers here, and counts in kB. */
const BYTES = 4

export function vectorsCollection(
  about: Pick<VectorsMetadata, 'fingerprint' | 'dimension'>,
  settings: CollectionSettings,
): NewCollection {
  const { vectorsMemory: memory, quantisation } = settings
  const quantization_config = QUANTISATION[quantisation]
  return {
    ...spread(settings),
    vectors: { [DENSE]: { size: about.dimension, distance: 'Cosine', memory } },
    hnsw_config: { full_scan_threshold: Math.ceil((FULL_SCAN * about.dimension * BYTES) / 1_024) },
    ...(quantization_config && { quantization_config }),
    metadata: {
      layout: LAYOUT,
      kind: DENSE,
      made: randomUUID(),
      ...about,
    } satisfies VectorsMetadata,
  }
}

/** Searches read mainly the quantised vectors, so these stay in memory. */
const QUANTISATION: Record<CollectionSettings['quantisation'], Quantization | undefined> = {
  none: undefined,
  int8: { scalar: { type: 'int8', quantile: 0.99, memory: 'pinned' } },
  turbo4: { turbo: { bits: 'bits4', memory: 'pinned' } },
}

function spread({ shards, replicas, writeConsistency }: CollectionSettings) {
  return {
    shard_number: shards,
    replication_factor: replicas,
    write_consistency_factor: writeConsistency,
  }
}
