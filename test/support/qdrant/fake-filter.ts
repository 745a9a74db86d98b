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
const Clauses = z.strictObject({
  must: z.array(z.unknown()).default([]),
  should: z.array(z.unknown()).default([]),
  must_not: z.array(z.unknown()).default([]),
})

/** The part of Qdrant's filters that is used: ids, equal values, and clauses of them. Anything else throws. */
export function readFilter(filter: unknown): Condition {
  if (filter === undefined || filter === null) return () => true
  const ids = HasId.safeParse(filter).data
  if (ids) return has(new Set(ids.has_id))
  const match = Match.safeParse(filter).data
  if (match) return matches(match)
  const { must, should, must_not } = Clauses.parse(filter)
  const all = must.map(readFilter)
  const some = should.map(readFilter)
  const none = must_not.map(readFilter)
  return (point) =>
    all.every((takes) => takes(point)) &&
    (some.length === 0 || some.some((takes) => takes(point))) &&
    !none.some((takes) => takes(point))
}

function has(ids: ReadonlySet<number>): Condition {
  return ({ id }) => ids.has(id)
}

function matches({ key, match }: z.output<typeof Match>): Condition {
  const wanted = 'any' in match ? match.any : [match.value]
  return ({ payload }) => {
    const value = payload?.[key]
    const held: unknown[] = Array.isArray(value) ? value : [value]
    return held.some((each) => wanted.includes(each))
  }
}
