import { describe, expect, it } from 'vitest'
import { readColumn } from '../../../src/stores/postgres/codec.ts'

const TEXT = 25

describe('A column of PostgreSQL', () => {
  it.each([
    ['a boolean', 16, 't', true],
    ['a boolean that is not', 16, 'f', false],
    ['a long integer', 20, '4294967295', 4_294_967_295],
    ['an integer', 23, '-7', -7],
    ['a double', 701, '-1.5', -1.5],
    ['an array of long integers', 1_016, '{1,4294967295}', [1, 4_294_967_295]],
    ['an empty array', 1_016, '{}', []],
    ['a text', TEXT, 'Grüße', 'Grüße'],
  ])('is read as %s', (_what, type, column, expected) => {
    expect(readColumn(type)(column)).toEqual(expected)
  })

  it('is read as bytes', () => {
    expect(readColumn(17)('\\x00ff10')).toEqual(Buffer.from([0, 255, 16]))
    expect(readColumn(17)('\\x')).toHaveLength(0)
  })

  it('is read as the text with the NUL that it cannot hold', () => {
    expect(readColumn(TEXT)('a\uFDD00b')).toBe('a\0b')
  })
})
