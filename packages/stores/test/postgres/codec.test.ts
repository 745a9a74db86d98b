import { describe, expect, it } from 'vitest'
import { fromColumn, readColumn, toColumn } from '../../src/postgres/codec.ts'

const TEXT = 25

describe('A column of PostgreSQL', () => {
  it.each([
    ['a boolean', 16, 't', true],
    ['a boolean that is not', 16, 'f', false],
    ['a long integer', 20, '4294967295', 4_294_967_295],
    ['an integer', 23, '-7', -7],
    ['a double', 701, '-1.5', -1.5],
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

const MARK = '\uFDD0'

describe('A text in a column that cannot hold NUL', () => {
  it.each([
    ['nothing special', 'Grüße 👋'],
    ['NULs', '\0a\0\0b\0'],
    ['the mark that stands for them', `${MARK}0 ${MARK}1${MARK}`],
    ['both', `${MARK}\0${MARK}${MARK}0\0`],
    ['nothing', ''],
  ])('comes back as it was with %s', (_what, text) => {
    const column = toColumn(text)
    expect(column).not.toContain('\0')
    expect(fromColumn(column)).toBe(text)
  })

  it('is unchanged if it contains neither NUL nor the escape character', () => {
    expect(toColumn('as it is')).toBe('as it is')
  })
})
