import { describe, expect, it } from 'vitest'
import { type PdfItem, toPageText } from '../../../../src/services/extraction/formats/pdf.ts'

const LEADING = 14

/** Lines one below the other, of the height of usual text. */
function linesOf(...lines: (string | Partial<PdfItem>)[]): PdfItem[] {
  return lines.map((line, i) => ({
    ...{ text: '', bottom: 700 - i * LEADING, height: 11, endsLine: true },
    ...(typeof line === 'string' ? { text: line } : line),
  }))
}

describe('The text of a page', () => {
  it('is its lines', () => {
    expect(toPageText(linesOf('Owls hunt', 'at night.'))).toBe('Owls hunt\nat night.')
  })

  it('is nothing where there is nothing but blanks', () => {
    expect(toPageText([])).toBe('')
    expect(toPageText(linesOf('', '  '))).toBe('')
  })

  it('joins the pieces of a line', () => {
    const items = linesOf(
      { text: 'Owls', endsLine: false },
      { text: ' ', endsLine: false, height: 0 },
      { text: 'hunt' },
    )
    expect(toPageText(items)).toBe('Owls hunt')
  })

  it('ends with the last line, though nothing says that it ends', () => {
    expect(toPageText(linesOf('One', { text: 'two', endsLine: false }))).toBe('One\ntwo')
  })

  it('joins a word that a line’s end divides', () => {
    expect(toPageText(linesOf('they eat lem-', 'mings'))).toBe('they eat lemmings')
    expect(toPageText(linesOf('im Früh-', 'ling'))).toBe('im Frühling')
  })

  it.each([
    ['a name', 'Austria-', 'Hungary', 'Austria-\nHungary'],
    ['a range', 'pages 10-', '20', 'pages 10-\n20'],
    ['a dash', 'owls -', 'herons', 'owls -\nherons'],
  ])('leaves a hyphen that is meant: %s', (_case, first, second, expected) => {
    expect(toPageText(linesOf(first, second))).toBe(expected)
  })

  it('begins a paragraph where lines are far apart', () => {
    const items = linesOf('One.', 'Two.', { text: 'Three.', bottom: 630 })
    expect(toPageText(items)).toBe('One.\nTwo.\n\nThree.')
  })

  it('holds no zeros and no runs of blanks', () => {
    expect(toPageText(linesOf('a\0b \t  c'))).toBe('ab c')
  })
})

describe('A line in larger letters', () => {
  const body = ['The owl hunts at night.', 'It sleeps by day.']

  it('is a heading', () => {
    const items = linesOf({ text: 'Owls', height: 18 }, ...body)
    expect(toPageText(items)).toBe('## Owls\n\nThe owl hunts at night.\nIt sleeps by day.')
  })

  it('begins a paragraph, also in the middle', () => {
    const items = linesOf(...body, { text: 'Food', height: 15 }, 'Mice, mostly.')
    expect(toPageText(items)).toMatch(/day\.\n\n## Food\n\s+Mice, mostly\.$/)
  })

  it.each([
    ['only a little larger', { text: 'Owls', height: 12 }],
    ['too long for a title', { text: 'Owls '.repeat(30), height: 18 }],
    ['a number', { text: '12', height: 18 }],
  ])('is none where it is %s', (_case, line) => {
    expect(toPageText(linesOf(line, ...body))).not.toContain('##')
  })

  it('is none where all letters are as large', () => {
    const items = linesOf({ text: 'Large', height: 30 }, { text: 'print', height: 30 })
    expect(toPageText(items)).toBe('Large\nprint')
  })
})
