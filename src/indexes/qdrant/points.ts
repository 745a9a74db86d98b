import { z } from 'zod'
import type { IndexMatch, IndexQuery } from '../chunk-index.ts'
import { pathOf } from './collections.ts'
import { type QdrantConnection, unavailable } from './connection.ts'
import { type PayloadCondition, toPayloadFilter } from './filters.ts'
import type { Payload } from './payload.ts'

/** A key is a point's id as it is: no document store gives one out twice. */
const MAX_KEY = 2 ** 32 - 1
const WRITING_MS = 30_000
const PAGE_KEYS = 10_000
const BATCH_REMOVALS = 10_000
/** Changes of one call that are under way at once. */
const LANES = 4

const Key = z.int().min(0).max(MAX_KEY)
const Match = z.object({ id: Key, score: z.number() })
const Matches = z.object({ points: z.array(Match) })
const Change = z.object({ status: z.string() })
const Page = z.object({
  points: z.array(z.object({ id: Key })),
  next_page_offset: Key.nullish(),
})
const Count = z.object({ count: z.int().min(0) })

export interface Point {
  id: number
  vector: Record<string, unknown>
  payload?: Payload | undefined
}

/** A query of Qdrant's Query API. */
type PointQuery = Readonly<Record<string, unknown>>

/** The points of one collection, addressed by its alias or name. */
export interface Points {
  /** Resolves when they are found by the very next query, on as many copies as the collection asks for. */
  put(batches: Iterable<readonly Point[]>): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  query(query: PointQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /** The answers in the order of the queries. */
  queryAll(queries: readonly PointQuery[], signal?: AbortSignal): Promise<IndexMatch[][]>
  /** Ascending. */
  keys(): Promise<Uint32Array<ArrayBuffer>>
  count(): Promise<number>
}

export function createPoints({ call }: QdrantConnection, collection: string): Points {
  const path = `${pathOf(collection)}/points`

  const change = async (method: 'PUT' | 'POST', to: string, body: object) => {
    const bounds = { query: { wait: 'true' }, deadlineMs: WRITING_MS }
    const { status } = await call({ method, path: path + to, body, result: Change, ...bounds })
    // Anything else says that it will be done, but not yet.
    if (status !== 'completed') {
      throw unavailable('The search index has not taken a change in time')
    }
  }

  return {
    put: (batches) => inLanes(batches, (points) => change('PUT', '', { points })),
    remove: (keys) =>
      inLanes(batched(keys, BATCH_REMOVALS), (points) => change('POST', '/delete', { points })),

    async query(query, signal) {
      const request = { method: 'POST', path: `${path}/query`, body: query } as const
      const { points } = await call({ ...request, result: Matches }, signal)
      return points.map(toMatch)
    },

    async queryAll(queries, signal) {
      if (queries.length === 0) return []
      const result = z.array(Matches).length(queries.length)
      const request = { method: 'POST', path: `${path}/query/batch` } as const
      const answers = await call({ ...request, body: { searches: queries }, result }, signal)
      return answers.map(({ points }) => points.map(toMatch))
    },

    async keys() {
      const pages: Uint32Array[] = []
      let offset: number | null | undefined
      do {
        const body = { limit: PAGE_KEYS, with_payload: false, ...(offset != null && { offset }) }
        const request = { method: 'POST', path: `${path}/scroll`, body, result: Page } as const
        const page = await call({ ...request, deadlineMs: WRITING_MS })
        pages.push(Uint32Array.from(page.points, ({ id }) => id))
        offset = page.next_page_offset
      } while (offset != null)
      return join(pages).sort()
    },

    async count() {
      const request = { method: 'POST', path: `${path}/count`, body: { exact: true } } as const
      return (await call({ ...request, result: Count })).count
    },
  }
}

function join(pages: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(pages.reduce((total, { length }) => total + length, 0))
  let next = 0
  for (const page of pages) {
    all.set(page, next)
    next += page.length
  }
  return all
}

function toMatch({ id, score }: z.output<typeof Match>): IndexMatch {
  return { key: id, score }
}

/** Works through the batches, some at a time. Rejects with the first error, after which no batch is begun. */
async function inLanes<Batch>(
  batches: Iterable<Batch>,
  work: (batch: Batch) => Promise<void>,
): Promise<void> {
  const rest = Iterator.from(batches)
  const runLane = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: LANES }, runLane))
}

/** The items in groups of `size`, the last of which may be smaller. */
export function* batched<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Runs changes to ranges of keys: those that may touch the same keys one after another, others at once. */
interface ChangeOrder {
  run<Result>(keys: ArrayLike<number>, change: () => Promise<Result>): Promise<Result>
}

interface Pending {
  least: number
  most: number
  settled: Promise<unknown>
}

export function createChangeOrder(): ChangeOrder {
  const pending = new Set<Pending>()

  return {
    async run(keys, change) {
      const { least, most } = rangeOf(keys)
      const earlier = [...pending].filter((each) => each.least <= most && least <= each.most)
      const done = Promise.allSettled(earlier.map(({ settled }) => settled)).then(change)
      const entry: Pending = { least, most, settled: done }
      pending.add(entry)
      try {
        return await done
      } finally {
        pending.delete(entry)
      }
    },
  }
}

function rangeOf(keys: ArrayLike<number>): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < keys.length; i++) {
    least = Math.min(least, keys[i] ?? 0)
    most = Math.max(most, keys[i] ?? 0)
  }
  return { least, most }
}

/** Asked for beyond the limit: of equal scores Qdrant keeps any, we the lowest keys. */
const SPARE = 16
/** Keys that one query names at most; more are asked about in parts. */
const MAX_NAMED = 200_000

/**
 * The best of one search. Where it is to look among more keys than one query can name, it asks in parts:
 * scores of one collection can be compared.
 */
export async function bestOf(
  { only, filter, limit }: Pick<IndexQuery, 'only' | 'filter' | 'limit'>,
  ask: (filter: PayloadCondition | undefined, limit: number) => Promise<IndexMatch[]>,
): Promise<IndexMatch[]> {
  if (only?.length === 0) return []
  const parts = filter ? [toPayloadFilter(filter)] : filtersFor(only)
  const found: IndexMatch[] = []
  for (const part of parts) found.push(...(await ask(part, limit + SPARE)))
  return found.sort((a, b) => b.score - a.score || a.key - b.key).slice(0, limit)
}

function filtersFor(only: Uint32Array | undefined): (PayloadCondition | undefined)[] {
  if (!only) return [undefined]
  const parts = Math.ceil(only.length / MAX_NAMED)
  return Array.from({ length: parts }, (_, part) => {
    const keys = only.subarray(part * MAX_NAMED, (part + 1) * MAX_NAMED)
    return { must: [{ has_id: Array.from(keys) }] }
  })
}
