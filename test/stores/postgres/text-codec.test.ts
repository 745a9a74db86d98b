import { describe, expect, it } from 'vitest'
import { fromColumn, toColumn } from '../../../src/stores/postgres/codec.ts'

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

  it('is the same text where there is neither NUL nor mark', () => {
    expect(toColumn('as it is')).toBe('as it is')
  })
})
