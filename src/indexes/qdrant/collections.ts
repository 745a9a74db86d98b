import { z } from 'zod'
import type { QdrantConnection } from './qdrant-connection.ts'
import { QdrantRefusal } from './qdrant-error.ts'

/** To lay a collection down on every node of a cluster. */
const LAYING_MILLISECONDS = 60_000
const LAYING = { timeout: String(LAYING_MILLISECONDS / 1_000) }
const CONFLICTS = [400, 409]

const Done = z.literal(true)
const Aliases = z.object({
  aliases: z.array(z.object({ alias_name: z.string(), collection_name: z.string() })),
})
const Existence = z.object({ exists: z.boolean() })
const Info = z.object({ config: z.object({ metadata: z.unknown().optional() }) })

/** The collections behind names that stay: each is addressed by its alias, which is moved when it has been made anew. */
export interface Collections {
  /** The collection that an alias names now. */
  behind(alias: string, signal?: AbortSignal): Promise<string | undefined>
  exists(name: string, signal?: AbortSignal): Promise<boolean>
  /** What a collection says about itself. */
  markOf(name: string, signal?: AbortSignal): Promise<unknown>
  /** Makes a collection; where there is one, it stays as it is. */
  create(name: string, body: object, signal?: AbortSignal): Promise<void>
  /** Makes aliases name these collections, all in one step. */
  serve(names: ReadonlyMap<string, string>, signal?: AbortSignal): Promise<void>
  drop(name: string, signal?: AbortSignal): Promise<void>
}

export function createCollections({ call }: QdrantConnection): Collections {
  const lay = (method: 'PUT' | 'DELETE', path: string, body: object, signal?: AbortSignal) => {
    const bounds = { query: LAYING, deadlineMilliseconds: LAYING_MILLISECONDS }
    return call({ method, path, body, result: Done, ...bounds }, signal)
  }

  const aliases = async (signal?: AbortSignal) => {
    const request = { method: 'GET', path: '/aliases', result: Aliases } as const
    const kept = (await call(request, signal)).aliases
    return new Map(kept.map((each) => [each.alias_name, each.collection_name]))
  }

  return {
    behind: async (alias, signal) => (await aliases(signal)).get(alias),

    async exists(name, signal) {
      const request = { method: 'GET', path: `${pathOf(name)}/exists`, result: Existence } as const
      return (await call(request, signal)).exists
    },

    async markOf(name, signal) {
      const request = { method: 'GET', path: pathOf(name), result: Info } as const
      return (await call(request, signal)).config.metadata
    },

    async create(name, body, signal) {
      try {
        await lay('PUT', pathOf(name), body, signal)
      } catch (error) {
        // Another server was faster, or this one was interrupted.
        if (!(error instanceof QdrantRefusal) || !CONFLICTS.includes(error.status)) throw error
        const request = { method: 'GET', path: pathOf(name), result: Info } as const
        await call(request, signal).catch(() => Promise.reject(error))
      }
    },

    async serve(names, signal) {
      const known = await aliases(signal)
      const actions = [...names].flatMap(([alias, collection]) => {
        const taken = known.has(alias) ? [{ delete_alias: { alias_name: alias } }] : []
        return [...taken, { create_alias: { alias_name: alias, collection_name: collection } }]
      })
      const request = { path: '/collections/aliases', query: LAYING, body: { actions } }
      const bounds = { result: Done, deadlineMilliseconds: LAYING_MILLISECONDS }
      await call({ method: 'POST', ...request, ...bounds }, signal)
    },

    async drop(name, signal) {
      const request = { path: pathOf(name), query: LAYING, result: z.boolean() }
      await call(
        { method: 'DELETE', ...request, deadlineMilliseconds: LAYING_MILLISECONDS },
        signal,
      )
    },
  }
}

export function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}`
}
