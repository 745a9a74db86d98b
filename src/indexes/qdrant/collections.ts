import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { CollectionSettings, MemoryPlacement } from '../qdrant-settings.ts'
import type { AliasChange, NewCollection, PayloadIndex, Quantization } from './api.ts'
import { isMissing, type QdrantConnection, QdrantRefusal, unavailable } from './connection.ts'
import { IS } from './payload.ts'

/** For a change of collections on every node of a cluster. */
const CHANGE_MS = 60_000
const WHOLE = { deadlineMs: CHANGE_MS, attemptMs: CHANGE_MS }
const CHANGE = { query: { timeout: String(CHANGE_MS / 1_000) }, ...WHOLE }
const CONFLICTS = [400, 409]

const Done = z.literal(true)
const Aliases = z.object({
  aliases: z.array(z.object({ alias_name: z.string(), collection_name: z.string() })),
})
const Names = z.object({ collections: z.array(z.object({ name: z.string() })) })
const Info = z.object({
  config: z.object({
    metadata: z.unknown().optional(),
    params: z.object({ write_consistency_factor: z.int().nullish() }).default({}),
  }),
  payload_schema: z.record(z.string(), z.unknown()),
})
const Change = z.object({ status: z.string() })

export type Collections = ReturnType<typeof createCollections>

/** The collections behind names that stay: each is addressed by its alias, which is moved when it has been made anew. */
export function createCollections({ call }: QdrantConnection, log?: SlowLog) {
  const aliases = async (signal?: AbortSignal) => {
    const found = await call({ method: 'GET', path: '/aliases', result: Aliases }, signal)
    return new Map(found.aliases.map((each) => [each.alias_name, each.collection_name]))
  }

  const info = (name: string, signal?: AbortSignal) =>
    call({ method: 'GET', path: pathOf(name), result: Info }, signal)

  /** Makes a payload index; where there is one, it stays. Resolves when it holds what the points have. */
  const index = async (name: string, body: PayloadIndex, signal?: AbortSignal) => {
    const bounds = { query: { wait: 'true' }, ...WHOLE, result: Change }
    const request = { method: 'PUT', path: `${pathOf(name)}/index`, body, ...bounds } as const
    const { status } = await call(request, signal)
    if (status !== 'completed') throw unavailable('The search index has not taken a change in time')
  }

  return {
    index,

    /** The collection that an alias names now. */
    behind: async (alias: string, signal?: AbortSignal) => (await aliases(signal)).get(alias),

    /** Of all collections there are, ours or not. */
    async names(signal?: AbortSignal) {
      const request = { method: 'GET', path: '/collections', result: Names } as const
      return (await call(request, signal)).collections.map(({ name }) => name)
    },

    /** What a collection says about itself. */
    async metadata(name: string, signal?: AbortSignal): Promise<unknown> {
      return (await info(name, signal)).config.metadata
    },

    /** The keys that have a payload index. */
    async indexed(name: string, signal?: AbortSignal) {
      return Object.keys((await info(name, signal)).payload_schema)
    },

    /** Makes a collection, and its index for equal values. What is there stays as it is. */
    async create(name: string, body: NewCollection, memory: MemoryPlacement, signal?: AbortSignal) {
      using _watch = sayWhenSlow(name, log)
      try {
        await call({ method: 'PUT', path: pathOf(name), body, result: Done, ...CHANGE }, signal)
      } catch (error) {
        // Another server was faster, or this one was interrupted.
        if (!(error instanceof QdrantRefusal) || !CONFLICTS.includes(error.status)) throw error
        await info(name, signal).catch(() => Promise.reject(error))
      }
      await index(name, { field_name: IS, field_schema: { type: 'keyword', memory } }, signal)
    },

    /** Makes aliases name these collections, or none any more, all in one step. */
    async serve(names: Readonly<Record<string, string | undefined>>, signal?: AbortSignal) {
      const known = await aliases(signal)
      const actions = Object.entries(names).flatMap(
        ([alias_name, collection_name]): AliasChange[] => {
          const freed = known.has(alias_name) ? [{ delete_alias: { alias_name } }] : []
          if (collection_name === undefined) return freed
          return [...freed, { create_alias: { alias_name, collection_name } }]
        },
      )
      const request = { method: 'POST', path: '/collections/aliases', body: { actions } } as const
      await call({ ...request, result: Done, ...CHANGE }, signal)
    },

    async drop(name: string, signal?: AbortSignal) {
      const request = { method: 'DELETE', path: pathOf(name), result: z.boolean() } as const
      await call({ ...request, ...CHANGE }, signal)
    },
  }
}

/** Identifies a collection among all there ever were, also of the same name; nothing where there is none. */
export async function identityOf(
  collections: Pick<Collections, 'metadata'>,
  name: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return Made.parse(await collections.metadata(name, signal)).made
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export interface SlowLog {
  warn(fields: object, message: string): void
}

/** A collection is mostly made in less than a second; every node is waited for, also one that is away. */
const SLOW_MS = 5_000

function sayWhenSlow(collection: string, log: SlowLog | undefined): Disposable {
  const say = () =>
    log?.warn({ collection }, 'Qdrant takes long to make a collection: a node may be away')
  const timer = setInterval(say, SLOW_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Sets how many copies must have a change, where it is another number. Done twice by servers that start together, it does no harm. */
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
  await call({ method: 'PATCH', path, body, result: Done, ...CHANGE }, signal)
}

export function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`
}

/** Raise it when an older or newer server could not use what is kept. */
const LAYOUT = 2
/** Of words that are weighed here. In those of `LAYOUT`, made by earlier versions, Qdrant weighs them, each shard for itself. */
const WEIGHED = 3
// Kept with every collection, and part of its name: they stay as they are.
export const TERMS = 'terms'
export const DENSE = 'meaning'

const Made = z.object({
  /** Drawn when the collection is made; collections of earlier versions have none. */
  made: z.string().default(''),
})

/** What a collection says about itself, so that no server mistakes it for another. */
export const TermsMetadata = Made.extend({
  layout: z.literal([LAYOUT, WEIGHED]),
  kind: z.literal(TERMS),
  /** `Analyser.fingerprint`. */
  analyser: z.string(),
  /** The mean length of a chunk, in terms, that every weight that is kept was reckoned with. */
  averageLength: z.number().positive(),
})
export type TermsMetadata = z.output<typeof TermsMetadata>

export const VectorsMetadata = Made.extend({
  layout: z.literal(LAYOUT),
  kind: z.literal(DENSE),
  /** Changes when all vectors are made anew. */
  fingerprint: z.string(),
  dimension: z.int().positive(),
})
export type VectorsMetadata = z.output<typeof VectorsMetadata>

/** Whether Qdrant is asked with the idf of each term, and keeps the lengths of chunks. */
export const isWeighedHere = ({ layout }: Pick<TermsMetadata, 'layout'>) => layout === WEIGHED

/** The weights are ours, and so is the idf of a term, with which a query comes. */
export function termsCollection(
  about: Pick<TermsMetadata, 'analyser' | 'averageLength'>,
  settings: CollectionSettings,
): NewCollection {
  return {
    ...spread(settings),
    vectors: {},
    sparse_vectors: { [TERMS]: { index: { memory: settings.termsMemory } } },
    metadata: {
      layout: WEIGHED,
      kind: TERMS,
      made: randomUUID(),
      ...about,
    } satisfies TermsMetadata,
  }
}

export function vectorsCollection(
  about: Pick<VectorsMetadata, 'fingerprint' | 'dimension'>,
  settings: CollectionSettings,
): NewCollection {
  const { vectorsMemory: memory, quantisation } = settings
  const quantization_config = QUANTISATION[quantisation]
  return {
    ...spread(settings),
    vectors: { [DENSE]: { size: about.dimension, distance: 'Cosine', memory } },
    ...(quantization_config && { quantization_config }),
    metadata: {
      ...{ layout: LAYOUT, kind: DENSE, made: randomUUID() },
      ...about,
    } satisfies VectorsMetadata,
  }
}

/** Searching reads nothing but these, so they stay in memory. */
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
