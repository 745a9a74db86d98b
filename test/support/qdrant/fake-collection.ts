import { z } from 'zod'
import { keysOf, readFilter } from './fake-filter.ts'
import { createFakePostings, Sparse } from './fake-postings.ts'

const Dense = z.array(z.number())

export const Point = z.object({
  id: z.number(),
  vector: z.record(z.string(), z.union([Sparse, Dense])),
  payload: z.record(z.string(), z.unknown()).nullish(),
})
export type Point = z.output<typeof Point>

export const Query = z.object({
  query: z.union([Sparse, Dense]),
  using: z.string(),
  limit: z.int().min(1),
  offset: z.int().min(0).default(0),
  filter: z.unknown().optional(),
})
export type Query = z.output<typeof Query>

const Description = z.object({
  shard_number: z.int().default(1),
  vectors: z.record(z.string(), z.object({ size: z.int() })).default({}),
  sparse_vectors: z
    .record(z.string(), z.object({ modifier: z.literal('idf').optional() }))
    .default({}),
})

export interface Scored {
  id: number
  score: number
}

/** Points in memory, searched as Qdrant does: by the scalar product, sparse ones weighed by idf where it is asked to, in each shard for itself. */
export interface FakeCollection {
  readonly description: unknown
  readonly points: ReadonlyMap<number, Point>
  /** The types of payload indexes by their keys. */
  readonly indexes: Map<string, string>
  /** Answers what is wrong with a point. */
  put(points: readonly Point[]): string | undefined
  remove(ids: Iterable<number>): void
  /** Answers what is wrong with the query, where something is. */
  query(query: Query): Scored[] | string
}

export function createFakeCollection(body: unknown): FakeCollection {
  const description = Description.parse(body)
  const points = new Map<number, Point>()
  const isWeighed = Object.values(description.sparse_vectors).some(({ modifier }) => modifier)
  const shards = Array.from({ length: description.shard_number }, () =>
    createFakePostings(isWeighed),
  )
  const shardOf = (id: number) => shards[id % shards.length]
  const indexes = new Map<string, string>()

  const mistakeOf = ({ vector }: Point): string | undefined => {
    for (const [name, value] of Object.entries(vector)) {
      const size = description.vectors[name]?.size
      const isSparse = description.sparse_vectors[name] !== undefined
      if (size === undefined && !isSparse) return `Not existing vector name error: ${name}`
      if (size !== undefined && (!Array.isArray(value) || value.length !== size)) {
        return `Vector dimension error: expected dim: ${size}`
      }
    }
    return undefined
  }

  const score = (query: Query['query'], using: string): Map<number, number> => {
    if (!Array.isArray(query)) return new Map(shards.flatMap((shard) => [...shard.score(query)]))
    const scores = new Map<number, number>()
    for (const { id, vector } of points.values()) {
      const held = vector[using]
      if (Array.isArray(held)) scores.set(id, cosine(held, query))
    }
    return scores
  }

  const search = ({ query, using, limit, offset, filter }: Query) => {
    const takes = readFilter(filter)
    return (
      [...score(query, using)]
        .flatMap(([id, value]) => {
          const point = points.get(id)
          const isTaken = point && takes(point)
          return isTaken ? [{ id, score: Math.fround(value) }] : []
        })
        // Among equals Qdrant promises nothing: the fake is as awkward as it can.
        .sort((a, b) => b.score - a.score || b.id - a.id)
        .slice(offset, offset + limit)
    )
  }

  /** As a Qdrant in strict mode, which others do not mind: what has no index would be searched slowly. */
  const mistakeIn = (filter: unknown): string | undefined => {
    const lacking = keysOf(filter).find(({ key, type }) => indexes.get(key) !== type)
    return lacking && `Index required but not found for "${lacking.key}"`
  }

  const remove = (ids: Iterable<number>) => {
    for (const id of ids) {
      points.delete(id)
      shardOf(id)?.remove(id)
    }
  }

  return {
    description: body,
    points,
    indexes,
    remove,
    put(added) {
      const mistake = added.map(mistakeOf).find((each) => each !== undefined)
      if (mistake !== undefined) return mistake
      remove(added.map(({ id }) => id))
      for (const point of added) {
        points.set(point.id, point)
        for (const vector of Object.values(point.vector)) {
          if (!Array.isArray(vector)) shardOf(point.id)?.add(point.id, vector)
        }
      }
      return undefined
    },
    query(query) {
      const size = description.vectors[query.using]?.size
      if (size !== undefined && Array.isArray(query.query) && query.query.length !== size) {
        return `Vector dimension error: expected dim: ${size}, got ${query.query.length}`
      }
      const mistake = mistakeIn(query.filter)
      if (mistake !== undefined) return mistake
      return search(query)
    },
  }
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
  return product / (Math.hypot(...a) * Math.hypot(...b) || 1)
}
