import { z } from 'zod'
import type { CollectionSettings, MemoryPlacement } from '../qdrant-settings.ts'
import { type QdrantConnection, QdrantRefusal, unavailable } from './connection.ts'

/** To lay a collection down on every node of a cluster. */
const LAYING_MS = 60_000
const LAYING = { timeout: String(LAYING_MS / 1_000) }
const CONFLICTS = [400, 409]

const Done = z.literal(true)
const Aliases = z.object({
  aliases: z.array(z.object({ alias_name: z.string(), collection_name: z.string() })),
})
const Existence = z.object({ exists: z.boolean() })
const Info = z.object({
  config: z.object({ metadata: z.unknown().optional() }),
  payload_schema: z.record(z.string(), z.unknown()),
})
const Change = z.object({ status: z.string() })

/** A key of the payload, and how it is indexed. */
interface PayloadIndex {
  field_name: string
  field_schema: { type: 'keyword' | 'float'; memory: MemoryPlacement }
}

/** The collections behind names that stay: each is addressed by its alias, which is moved when it has been made anew. */
export interface Collections {
  /** The collection that an alias names now. */
  behind(alias: string, signal?: AbortSignal): Promise<string | undefined>
  exists(name: string, signal?: AbortSignal): Promise<boolean>
  /** What a collection says about itself. */
  markOf(name: string, signal?: AbortSignal): Promise<unknown>
  /** Makes a collection; where there is one, it stays as it is. */
  create(name: string, body: object, signal?: AbortSignal): Promise<void>
  /** Makes a payload index; where there is one, it stays. Resolves when it holds what the points have. */
  index(name: string, index: PayloadIndex, signal?: AbortSignal): Promise<void>
  /** The keys that have a payload index. */
  indexed(name: string, signal?: AbortSignal): Promise<string[]>
  /** Makes aliases name these collections, or none any more, all in one step. */
  serve(names: Readonly<Record<string, string | undefined>>, signal?: AbortSignal): Promise<void>
  drop(name: string, signal?: AbortSignal): Promise<void>
}

export function createCollections({ call }: QdrantConnection): Collections {
  const lay = (method: 'PUT' | 'DELETE', path: string, body: object, signal?: AbortSignal) => {
    const bounds = { query: LAYING, deadlineMs: LAYING_MS }
    return call({ method, path, body, result: Done, ...bounds }, signal)
  }

  const aliases = async (signal?: AbortSignal) => {
    const request = { method: 'GET', path: '/aliases', result: Aliases } as const
    const kept = (await call(request, signal)).aliases
    return new Map(kept.map((each) => [each.alias_name, each.collection_name]))
  }

  const infoOf = (name: string, signal?: AbortSignal) =>
    call({ method: 'GET', path: pathOf(name), result: Info }, signal)

  return {
    behind: async (alias, signal) => (await aliases(signal)).get(alias),

    async exists(name, signal) {
      const request = { method: 'GET', path: `${pathOf(name)}/exists`, result: Existence } as const
      return (await call(request, signal)).exists
    },

    async markOf(name, signal) {
      return (await infoOf(name, signal)).config.metadata
    },

    async create(name, body, signal) {
      try {
        await lay('PUT', pathOf(name), body, signal)
      } catch (error) {
        // Another server was faster, or this one was interrupted.
        if (!(error instanceof QdrantRefusal) || !CONFLICTS.includes(error.status)) throw error
        await infoOf(name, signal).catch(() => Promise.reject(error))
      }
    },

    async index(name, index, signal) {
      const request = { method: 'PUT', path: `${pathOf(name)}/index`, body: index } as const
      const bounds = { query: { wait: 'true' }, deadlineMs: LAYING_MS }
      const { status } = await call({ ...request, ...bounds, result: Change }, signal)
      if (status !== 'completed')
        throw unavailable('The search index has not taken a change in time')
    },

    indexed: async (name, signal) => Object.keys((await infoOf(name, signal)).payload_schema),

    async serve(names, signal) {
      const known = await aliases(signal)
      const actions = Object.entries(names).flatMap(([alias_name, collection_name]) => {
        const left = known.has(alias_name) ? [{ delete_alias: { alias_name } }] : []
        return collection_name === undefined
          ? left
          : [...left, { create_alias: { alias_name, collection_name } }]
      })
      const request = { path: '/collections/aliases', query: LAYING, body: { actions } }
      const bounds = { result: Done, deadlineMs: LAYING_MS }
      await call({ method: 'POST', ...request, ...bounds }, signal)
    },

    async drop(name, signal) {
      const request = { path: pathOf(name), query: LAYING, result: z.boolean() }
      await call({ method: 'DELETE', ...request, deadlineMs: LAYING_MS }, signal)
    },
  }
}

export function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`
}

/** Raise it when an older or newer server could not use what is kept. */
const LAYOUT = 2
export const TERMS = 'terms'
export const MEANING = 'meaning'

/** What a collection says about itself, so that no server mistakes it for another. */
export const TermsMark = z.object({
  layout: z.literal(LAYOUT),
  kind: z.literal(TERMS),
  /** `Analyser.fingerprint`. */
  analyser: z.string(),
  /** The mean length of a chunk, in terms, that every weight was reckoned with. */
  averageLength: z.number().positive(),
})
export type TermsMark = z.output<typeof TermsMark>

export const VectorsMark = z.object({
  layout: z.literal(LAYOUT),
  kind: z.literal(MEANING),
  /** Changes when all vectors are made anew. */
  fingerprint: z.string(),
  dimension: z.int().positive(),
})
export type VectorsMark = z.output<typeof VectorsMark>

export function termsMark(mark: Pick<TermsMark, 'analyser' | 'averageLength'>): TermsMark {
  return { layout: LAYOUT, kind: TERMS, ...mark }
}

export function vectorsMark(mark: Pick<VectorsMark, 'fingerprint' | 'dimension'>): VectorsMark {
  return { layout: LAYOUT, kind: MEANING, ...mark }
}

/** The weights are ours; how rare a term is, Qdrant knows best, and multiplies by when it is asked. */
export function termsCollection(mark: TermsMark, settings: CollectionSettings) {
  return {
    ...spread(settings),
    vectors: {},
    sparse_vectors: { [TERMS]: { modifier: 'idf', index: { memory: settings.termsMemory } } },
    metadata: mark,
  }
}

export function vectorsCollection(mark: VectorsMark, settings: CollectionSettings) {
  const quantisation = QUANTISATION[settings.quantisation]
  return {
    ...spread(settings),
    vectors: {
      [MEANING]: { size: mark.dimension, distance: 'Cosine', memory: settings.vectorsMemory },
    },
    ...(quantisation && { quantization_config: quantisation }),
    metadata: mark,
  }
}

/** Searching reads nothing but these, so they stay in memory. */
const QUANTISATION = {
  none: undefined,
  int8: { scalar: { type: 'int8', quantile: 0.99, memory: 'pinned' } },
  turbo4: { turbo: { bits: 'bits4', memory: 'pinned' } },
} as const

function spread({ shards, replicas, writeConsistency }: CollectionSettings) {
  return {
    shard_number: shards,
    replication_factor: replicas,
    write_consistency_factor: writeConsistency,
  }
}
