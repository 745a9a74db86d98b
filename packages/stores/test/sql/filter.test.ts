import { everything } from '@agent-server/lib/visibility.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import { describe, expect, it } from 'vitest'
import { visibleTo } from '../../src/sql/visible.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'

const conditionOf = (filter: Filter) => visibleTo(SQLITE, everything(), { filter })
const IN_METADATA = 'documents.number IN (SELECT document FROM metadata WHERE '

describe('A filter as a condition', () => {
  it('never has a value in its text', () => {
    const nasty = `'; DROP TABLE documents; --`
    const { sql, values } = conditionOf({
      and: [{ field: 'a', eq: nasty }, { or: [{ not: { field: nasty, in: [nasty, 1, true] } }] }],
    })
    expect(sql).not.toContain('DROP')
    expect(values).toEqual(['a', nasty, nasty, nasty, 'number', 1, 'boolean', 1])
  })

  it('numbers its parameters in the order of its values', () => {
    const { sql, values } = conditionOf({ field: 'year', gte: 2020, lt: 2025 })
    expect(sql).toBe(
      `${IN_METADATA}name = $1 AND kind = $2 AND number >= CAST($3 AS double precision) AND kind = $4 AND number < CAST($5 AS double precision))`,
    )
    expect(values).toEqual(['year', 'number', 2020, 'number', 2025])
  })

  it('compares strings with strings alone', () => {
    const { sql, values } = conditionOf({ field: 'day', gt: '2026-01-01' })
    expect(sql).toBe(`${IN_METADATA}name = $1 AND string > $2)`)
    expect(values).toEqual(['day', '2026-01-01'])
  })

  it('matches documents without the field when negated', () => {
    expect(conditionOf({ not: { field: 'a', eq: 'b' } }).sql).toBe(
      `NOT ${IN_METADATA}name = $1 AND string = $2)`,
    )
  })
})
