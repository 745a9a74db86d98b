import { z } from 'zod'
import type { IndexMatch } from '../chunk-index.ts'
import { batched } from './batched.ts'
import { pathOf } from './collections.ts'
import type { Payload } from './payload.ts'
import type { QdrantConnection } from './qdrant-connection.ts'
import { unavailable } from './qdrant-error.ts'

/** A key is a point's id as it is: no authority gives one out twice. */
const MOST_KEY = 2 ** 32 - 1
const WRITING_MILLISECONDS = 30_000
const PAGE_KEYS = 10_000
const BATCH_REMOVALS = 10_000
/** Changes of one call that are under way at once. */
const LANES = 4

const Key = z.int().min(0).max(MOST_KEY)
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
export type PointQuery = Readonly<Record<string, unknown>>

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
    const bounds = { query: { wait: 'true' }, deadlineMilliseconds: WRITING_MILLISECONDS }
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
        const page = await call({ ...request, deadlineMilliseconds: WRITING_MILLISECONDS })
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
