import { describe, expect, it } from 'vitest'
import { breakLines, visualRuns } from '../../src/forms/pdf-layout.ts'

/** Lines of at most so many characters. */
const broken = (text: string, most: number) => breakLines(text, (line) => [...line].length <= most)

describe('Lines', () => {
  it.each([
    ['short', 10, ['short']],
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 8, ['one two', 'three']],
    ['一二三四五', 2, ['一二', '三四', '五']],
    ['a\nb\r\nc', 5, ['a', 'b', 'c']],
    ['unbreakable', 4, ['unbreakable']],
    ['用 Word 写', 6, ['用 Word', '写']],
    ['𠀀𠀁𠀂', 1, ['𠀀', '𠀁', '𠀂']],
    ['', 3, ['']],
  ])('of %j within %i characters', (text, most, lines) => {
    expect(broken(text, most)).toEqual(lines)
  })

  it('do not begin with closing, nor end with opening punctuation', () => {
    expect(broken('一二三。四', 3)).toEqual(['一二', '三。四'])
    expect(broken('一二「三四」', 3)).toEqual(['一二', '「三', '四」'])
  })
})

describe('A line in pieces of one direction', () => {
  it.each([
    ['', ['']],
    ['from left to right', ['from left to right']],
    ['北京 (ok)', ['北京 (ok)']],
    ['שלום', ['שלום']],
    ['to שלום עולם!', ['to ', 'שלום עולם', '!']],
    ['שלום 12 עולם', [' עולם', '12', 'שלום ']],
    ['א (1) ב', ['( ב', '1', 'א )']],
    ['א (ב)', ['א )ב(']],
    ['אב 😀 ok', ['ok', 'אב 😀 ']],
    ['کیلو ۱۲۳', ['۳۲۱', 'کیلو ']],
  ])('%j', (line, runs) => {
    const found = visualRuns(line)
    expect(found.join('')).toHaveLength(line.length)
    expect(found.map((run) => run.trim()).filter(Boolean)).toEqual(
      runs.map((run) => run.trim()).filter(Boolean),
    )
  })
})
