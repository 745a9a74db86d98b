import { z } from 'zod'

interface Filtered {
  id: number
  payload?: Record<string, unknown> | null | undefined
}

type Condition = (point: Filtered) => boolean

const HasId = z.strictObject({ has_id: z.array(z.number()) })
const Match = z.strictObject({
  key: z.string(),
  match: z.union([
    z.strictObject({ value: z.unknown() }),
    z.strictObject({ any: z.array(z.unknown()) }),
  ]),
})
const Bound = z.number().optional()
const Range = z.strictObject({
  key: z.string(),
  range: z.strictObject({ gt: Bound, gte: Bound, lt: Bound, lte: Bound }),
})
const Clauses = z.strictObject({
  must: z.array(z.unknown()).default([]),
  should: z.array(z.unknown()).default([]),
  must_not: z.array(z.unknown()).default([]),
})

/** The part of Qdrant's filters that is used: ids, equal values, ranges, and clauses of them. Anything else throws. */
export function readFilter(filter: unknown): Condition {
  if (filter === undefined || filter === null) return () => true
  const ids = HasId.safeParse(filter).data
  if (ids) return has(new Set(ids.has_id))
  const match = Match.safeParse(filter).data
  if (match) return matches(match)
  const range = Range.safeParse(filter).data
  if (range) return liesIn(range)
  const { must, should, must_not } = Clauses.parse(filter)
  const all = must.map(readFilter)
  const some = should.map(readFilter)
  const none = must_not.map(readFilter)
  return (point) =>
    all.every((takes) => takes(point)) &&
    (some.length === 0 || some.some((takes) => takes(point))) &&
    !none.some((takes) => takes(point))
}

/** The keys of the payload that a filter looks at, each with what it looks for. */
export function keysOf(filter: unknown): { key: string; type: 'keyword' | 'float' }[] {
  if (filter === undefined || filter === null || HasId.safeParse(filter).success) return []
  const match = Match.safeParse(filter).data
  if (match) return [{ key: match.key, type: 'keyword' }]
  const range = Range.safeParse(filter).data
  if (range) return [{ key: range.key, type: 'float' }]
  const { must, should, must_not } = Clauses.parse(filter)
  return [...must, ...should, ...must_not].flatMap(keysOf)
}

function has(ids: ReadonlySet<number>): Condition {
  return ({ id }) => ids.has(id)
}

function matches({ key, match }: z.output<typeof Match>): Condition {
  const wanted = new Set('any' in match ? match.any : [match.value])
  return (point) => valuesAt(point, key).some((each) => wanted.has(each))
}

function liesIn({ key, range }: z.output<typeof Range>): Condition {
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range
  const isInside = (value: unknown) =>
    typeof value === 'number' && value > gt && value >= gte && value < lt && value <= lte
  return (point) => valuesAt(point, key).some(isInside)
}

/** What stands at the end of a path of plain names; of a list each part. */
function valuesAt({ payload }: Filtered, path: string): unknown[] {
  const value = path
    .split('.')
    .reduce<unknown>((held, name) => Object(held)[name], payload ?? undefined)
  return Array.isArray(value) ? value : [value]
}
