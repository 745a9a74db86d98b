import { batched, forEachBatch } from '@agent-server/lib/batches.ts'
import type { IndexMatch, Scope } from '@agent-server/search'
import { byScore } from '@agent-server/search'
import { z } from 'zod'
import type { PayloadFilter, PointQuery, SparseVector } from './api.ts'
import { pathOf } from './collections.ts'
import { type QdrantConnection, unavailable } from './connection.ts'
import { type Payload, type PayloadOf, toVisibleFilter } from './payload.ts'

/** Keys serve as point ids: no document store issues one twice. */
const MAX_KEY = 2 ** 32 - 1
const WRITING_MS = 30_000
/** A page of keys takes far less. */
const PAGE_MS = 2_500
// Requests stay within the usual limits of Qdrant's strict mode, in case it is on.
const PAGE_KEYS = 1_000
const MAX_MATCHES = 1_000
const BATCH_KEYS = 10_000
/** Concurrent requests per change. */
const WORKERS = 4
const KEYS = { size: BATCH_KEYS, workers: WORKERS }

const Key = z.int().min(0).max(MAX_KEY)
const Matches = z
  .object({ points: z.array(z.object({ id: Key, score: z.number() })) })
  .transform(({ points }) => points.map(({ id, score }): IndexMatch => ({ key: id, score })))
const Held = z.array(
  z.object({
    id: Key,
    vector: z.record(z.string(), z.object({ indices: z.array(z.number()) })),
  }),
)
const Change = z.object({ status: z.string() })
const Page = z.object({
  points: z.array(z.object({ id: Key })),
  next_page_offset: Key.nullish(),
})
const Count = z.object({ count: z.int().min(0) })

interface Point {
  id: number
  vector: Record<string, number[] | SparseVector>
  payload?: Payload | undefined
}

/** One point per key, with a vector of this name; of duplicate keys the last counts. */
export function* pointsOf(
  keys: Uint32Array,
  name: string,
  vectorOf: (place: number) => Point['vector'][string],
  payloadOf: PayloadOf,
): Generator<Point> {
  const last = new Map(Array.from(keys, (key, place) => [key, place]))
  for (const [id, place] of last) {
    yield { id, vector: { [name]: vectorOf(place) }, payload: payloadOf(place) }
  }
}

export type Points = ReturnType<typeof createPoints>

/** The points of one collection, addressed by its alias or name. */
export function createPoints({ call }: QdrantConnection, collection: string) {
  const path = `${pathOf(collection)}/points`

  const change = async (method: 'PUT' | 'POST', to: string, body: object) => {
    const bounds = { query: { wait: 'true' }, deadlineMs: WRITING_MS }
    const { status } = await call({ method, path: path + to, body, result: Change, ...bounds })
    // Any other status means that the change was accepted but is not done yet.
    if (status !== 'completed') throw unavailable('The search index has not taken a change in time')
  }

  return {
    /** Resolves when the next query finds the points, on as many copies as the collection requires. */
    put: (points: Iterable<Point>, batchSize: number) =>
      forEachBatch(points, { size: batchSize, workers: WORKERS }, (batch) =>
        change('PUT', '', { points: batch }),
      ),

    remove: (keys: readonly number[]) =>
      forEachBatch(keys, KEYS, (points) => change('POST', '/delete', { points })),

    /** Replaces the payloads of those of these points that exist. */
    async setPayloads(keys: readonly number[], payloadOf: PayloadOf) {
      const places = Map.groupBy(keys.keys(), (place) => JSON.stringify(payloadOf(place) ?? {}))
      for (const group of places.values()) {
        const payload = payloadOf(group[0] ?? 0) ?? {}
        const ids = group.map((place) => keys[place] ?? 0)
        await forEachBatch(ids, KEYS, (has_id) =>
          change('PUT', '/payload', { payload, filter: { must: [{ has_id }] } }),
        )
      }
    },

    query(body: PointQuery, signal?: AbortSignal) {
      return call({ method: 'POST', path: `${path}/query`, body, result: Matches }, signal)
    },

    /** Where the sparse vectors of this name are not zero, of those of these points that exist. */
    async indices(keys: Uint32Array, name: string, signal?: AbortSignal) {
      if (keys.length === 0) return new Map<number, ReadonlySet<number>>()
      const body = { ids: [...keys], with_vector: [name], with_payload: false }
      const held = await call({ method: 'POST', path, body, result: Held }, signal)
      return new Map(held.map(({ id, vector }) => [id, new Set(vector[name]?.indices)]))
    },

    /** Ascending. */
    async keys() {
      const keys: number[] = []
      let offset: number | null | undefined
      do {
        const body = { limit: PAGE_KEYS, with_payload: false, ...(offset != null && { offset }) }
        const request = { method: 'POST', path: `${path}/scroll`, body, result: Page } as const
        const page = await call({ ...request, deadlineMs: WRITING_MS, attemptMs: PAGE_MS })
        for (const { id } of page.points) keys.push(id)
        offset = page.next_page_offset
      } while (offset != null)
      return Uint32Array.from(keys).sort()
    },

    async count() {
      const request = { method: 'POST', path: `${path}/count`, body: { exact: true } } as const
      return (await call({ ...request, result: Count })).count
    },
  }
}

/** Extra matches requested beyond the limit: of equal scores Qdrant returns any, but we want the lowest keys. */
const SPARE = 16
/** Maximum number of keys in a query; more are split into several queries. */
const MAX_NAMED = 200_000

/**
 * The best matches of a search, best first. Splits it into several queries if `only` has too many keys for one; scores
 * within a collection are comparable.
 */
export async function bestOf(
  { only, visibility, readable, limit }: Scope & { limit: number },
  ask: (query: Pick<PointQuery, 'filter' | 'limit' | 'offset'>) => Promise<IndexMatch[]>,
): Promise<IndexMatch[]> {
  if (only?.length === 0) return []
  const filters = visibility ? [toVisibleFilter(visibility, readable)] : filtersFor(only)
  const parts = filters.map((each) => (each ? { filter: each } : {}))
  const best = new Map<number, IndexMatch>()
  for (const part of parts) {
    for await (const match of inPages(limit + SPARE, (page) => ask({ ...page, ...part }))) {
      best.set(match.key, match)
    }
  }
  return [...best.values()].sort(byScore).slice(0, limit)
}

/** The first `limit` matches, fetched in pages of at most `MAX_MATCHES`. */
async function* inPages(
  limit: number,
  ask: (page: { limit: number; offset?: number }) => Promise<IndexMatch[]>,
): AsyncGenerator<IndexMatch> {
  for (let offset = 0; offset < limit; offset += MAX_MATCHES) {
    const page = Math.min(MAX_MATCHES, limit - offset)
    const matches = await ask({ limit: page, ...(offset > 0 && { offset }) })
    yield* matches
    if (matches.length < page) return
  }
}

function filtersFor(only: Uint32Array | undefined): (PayloadFilter | undefined)[] {
  if (!only) return [undefined]
  return Array.from(batched(only, MAX_NAMED), (has_id) => ({ must: [{ has_id }] }))
}
