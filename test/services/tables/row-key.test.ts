import { describe, expect, it } from 'vitest'
import { keyKindOf, toKey } from '../../../src/services/tables/look-up-rows.ts'

describe('The kind of a column', () => {
  it.each([
    [['BIGINT', 'INTEGER', 'UTINYINT', 'HUGEINT', 'DOUBLE', 'FLOAT', 'DECIMAL(18,2)'], 'number'],
    [['DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMP_NS'], 'time'],
    [['BOOLEAN'], 'boolean'],
    [['VARCHAR', 'TIME', 'INTERVAL', 'BIGINT[]', 'DATE[]', 'STRUCT(a INTEGER)', 'UUID'], 'text'],
  ])('of %j is %s', (types, kind) => {
    expect(types.map(keyKindOf)).toEqual(types.map(() => kind))
  })
})

describe('What an index keeps', () => {
  it.each([
    ['text', 'Ångström', 'Ångström'],
    ['text', 7, '7'],
    ['text', 'x'.repeat(2_000), 'x'.repeat(1_000)],
    ['number', '12.50', 12.5],
    ['number', '-3', -3],
    ['number', '99999999999999999999', 1e20],
    ['number', 'many', null],
    ['number', ' ', null],
    ['number', 'Infinity', null],
    ['number', true, null],
    ['boolean', true, 1],
    ['boolean', 'FALSE', 0],
    ['boolean', 'maybe', null],
    ['time', '2026-01-02T03:04', '2026-01-02 03:04'],
    ['time', 2026, '2026'],
    ['time', 'yesterday', null],
    ['text', null, null],
  ] as const)('of the %s %j is %j', (kind, value, key) => {
    expect(toKey(value, kind)).toBe(key)
  })

  it('of a whole number that no double is, is the number itself', () => {
    expect(toKey('9007199254740993', 'number')).toBe(9_007_199_254_740_993n)
  })
})
