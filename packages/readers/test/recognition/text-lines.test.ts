import { describe, expect, it } from 'vitest'
import { linesOf, type ReadBox } from '../../src/recognition/text-lines.ts'

const box = (text: string, left: number, y: number, angle = 0): ReadBox => {
  const width = text.length * 10
  return { text, x: left + width / 2, y, width, height: 20, angle }
}
const PROSE = 'A line of prose, long enough'
const prose = (name: string, left: number, rows: number, top = 0) =>
  Array.from({ length: rows }, (_, row) => box(`${PROSE} ${name}${row}`, left, top + row * 30))
const namesIn = (text: string) => text.match(/[a-c]\d/g)?.join(' ')

describe('The boxes of a page are read', () => {
  it('from top to bottom, and in a row from left to right', () => {
    const boxes = [box('175 cm', 300, 2), box('Egret', 0, 30), box('Heron', 0, 0)]
    expect(linesOf(boxes)).toBe('Heron 175 cm\nEgret')
  })

  it('with an empty line before a paragraph', () => {
    const boxes = [0, 30, 60, 130, 160].map((y, row) => box(`Line ${row}`, 0, y))
    expect(linesOf(boxes)).toBe('Line 0\nLine 1\nLine 2\n\nLine 3\nLine 4')
  })

  it('also on a page that is askew', () => {
    const angle = 0.1
    const boxes = [
      box('left', 0, 0, angle),
      box('right', 400, 40, angle),
      box('below', 0, 30, angle),
    ]
    expect(linesOf(boxes)).toBe('left right\nbelow')
  })

  it('column by column, where these are prose, under a title and above a note', () => {
    const boxes = [
      box(`c0 ${PROSE} that goes across both of the columns`, 0, 0),
      ...prose('a', 0, 7, 40),
      // A column need not stand in line with the other.
      ...prose('b', 400, 7, 52),
      box(`c1 ${PROSE} that goes across both of the columns`, 0, 300),
    ]
    expect(namesIn(linesOf(boxes))).toBe('c0 a0 a1 a2 a3 a4 a5 a6 b0 b1 b2 b3 b4 b5 b6 c1')
  })

  it('in three columns', () => {
    const boxes = [...prose('a', 0, 6), ...prose('b', 400, 6), ...prose('c', 800, 6)]
    expect(namesIn(linesOf(boxes))).toBe('a0 a1 a2 a3 a4 a5 b0 b1 b2 b3 b4 b5 c0 c1 c2 c3 c4 c5')
  })

  it('across, where there are few rows or short texts', () => {
    expect(namesIn(linesOf([...prose('a', 0, 3), ...prose('b', 400, 3)]))).toBe('a0 b0 a1 b1 a2 b2')
    const short = Array.from({ length: 8 }, (_, row) => [
      box(`a${row}`, 0, row * 30),
      box(`b${row}`, 400, row * 30),
    ]).flat()
    expect(linesOf(short)).toMatch(/^a0 b0\na1 b1\n/)
  })

  it('as nothing where there are none', () => expect(linesOf([])).toBe(''))
})
