import type { Filter } from '@agent-server/lib/filter.ts'
import { describe, expect, it } from 'vitest'
import type { PayloadFilter } from '../src/api.ts'
import { rangeKeysIn, toPayloadFilter, toVisibleFilter } from '../src/payload.ts'

// What filters take is held against the document store by the suite of every index: these are their shapes.
describe('A filter over payloads', () => {
  it('looks up equal values as keywords, each once', () => {
    expect(toPayloadFilter({ field: 'x', in: [1, 'a', 1, true] })).toEqual({
      must: [{ key: 'is', match: { any: ['x=n1', 'x=sa', 'x=b1'] } }],
    })
    expect(toPayloadFilter({ field: 'x', eq: 'a' })).toEqual({
      must: [{ key: 'is', match: { value: 'x=sa' } }],
    })
  })

  it('asks for numbers in one range', () => {
    expect(toPayloadFilter({ field: 'x', gte: 1, lt: 5 })).toEqual({
      must: [{ key: 'number.x', range: { gte: 1, lt: 5 } }],
    })
  })

  it('compares strings place by place', () => {
    const filter = toPayloadFilter({ field: 'day', gte: '2026-01-01' })
    expect(filter).toEqual({
      must: [
        {
          should: [
            { must: [{ key: 'order.day.a', range: { gt: expect.any(Number) } }] },
            {
              must: [
                {
                  key: 'order.day.a',
                  range: { gte: expect.any(Number), lte: expect.any(Number) },
                },
                { key: 'order.day.b', range: { gte: expect.any(Number) } },
              ],
            },
          ],
        },
      ],
    })
  })

  it('asks for rights by one list of keywords, however many groups and collections there are', () => {
    const principals = Array.from({ length: 200 }, (_, group) => `group:${group}`)
    const rights = { to: 'read' as const, person: 'ada', principals }
    const visibility = { collections: 'all' as const, rights, conversations: 'none' as const }
    const any = ['~by=sada', ...principals.map((group) => `~may=s${group}`), '~open=sred']
    expect(toVisibleFilter(visibility, ['red'])).toEqual({ must: [{ key: 'is', match: { any } }] })
  })

  it('keeps its nesting', () => {
    const part = { field: 'x', eq: 1 }
    const made = toPayloadFilter(part)
    expect(toPayloadFilter({ and: [part, { or: [part] }, { not: part }] })).toEqual({
      must: [made, { should: [made] }, { must_not: [made] }],
    })
  })

  it('names the keys of its ranges, which need indexes of their own', () => {
    const filter: Filter = {
      or: [
        { field: 'x', eq: 1 },
        { not: { field: 'y', gt: 1, lt: 3 } },
        { field: 'y', gte: 3 },
        { field: 'day', lt: '2026-01-01' },
      ],
    }
    expect(rangeKeysIn(filter)).toEqual(['number.y', 'order.day.a', 'order.day.b'])
    expect(rangeKeysIn({ field: 'x', eq: 'long '.repeat(20) })).toEqual([])
  })

  it('does not compile if Qdrant would not accept it', () => {
    const clause = { key: 'is', match: { value: 'x=sa' } }
    const right: PayloadFilter = { must: [clause, { has_id: [1] }] }
    // @ts-expect-error a clause that there is not
    const wrongClause: PayloadFilter = { mustNot: [clause] }
    // @ts-expect-error a bound that there is not
    const wrongBound: PayloadFilter = { must: [{ key: 'number.x', range: { above: 3 } }] }
    // @ts-expect-error a kind of match that there is not
    const wrongMatch: PayloadFilter = { must: [{ key: 'is', match: { equals: 'x' } }] }
    expect([right, wrongClause, wrongBound, wrongMatch]).toHaveLength(4)
  })

  it('cannot be built for a string that is too long to compare', () => {
    const filter: Filter = { not: { field: 'x', lt: 'x'.repeat(30) } }
    expect(rangeKeysIn(filter)).toBeUndefined()
    expect(() => toPayloadFilter(filter)).toThrow(RangeError)
  })
})
