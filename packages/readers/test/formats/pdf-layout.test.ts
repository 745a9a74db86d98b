import { PDFDocument } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { extractPdf } from '../../src/formats/pdf.ts'
import { type Drawn, drawn, textOf } from './drawn-pdf.ts'

const CELLS = [
  ['Region', 'Sold', 'Returned'],
  ['North', '12', ''],
  ['South', '7', '1'],
  ['West', '30', ''],
]
const TABLE = `| Region | Sold | Returned |
| --- | --- | --- |
| North | 12 |  |
| South | 7 | 1 |
| West | 30 |  |`
const cellsAt = (top: number, cells = CELLS): Drawn['texts'] =>
  cells.flatMap((row, r) =>
    row.flatMap((text, c) => (text ? [[text, 60 + c * 100, top + r * 20] as const] : [])),
  )
const boxesAt = (top: number, rows = CELLS.length): Drawn['boxes'] =>
  Array.from({ length: rows * 3 }, (_, n) => [
    50 + (n % 3) * 100,
    top - 14 + Math.floor(n / 3) * 20,
    100,
    20,
  ])
const linesAt = (x: number, top: number, count: number, word: string): Drawn['texts'] =>
  Array.from({ length: count }, (_, n) => [`${word} ${n} writes much about owls`, x, top + n * 14])

describe('A table', () => {
  it('is read from the lines around its cells, with the texts before and after it', async () => {
    const texts = [['Sales', 60, 60], ...cellsAt(100), ['The end.', 60, 220]] as const
    expect(await textOf([{ texts, boxes: boxesAt(100) }])).toBe(`Sales\n\n${TABLE}\n\nThe end.`)
  })

  it('is read from the gaps between its columns, sparse ones included', async () => {
    const texts = [['Sales', 60, 60, 16], ...cellsAt(100), ['This is the end.', 60, 220]] as const
    expect(await textOf([{ texts }])).toBe(`## Sales\n\n${TABLE}\n\nThis is the end.`)
  })

  it('has the text of a cell that spans rows or columns in each of them', async () => {
    const texts = [
      ['Both', 60, 100],
      ['z', 260, 100],
      ['a', 60, 120],
      ['b', 160, 120],
      ['y', 260, 120],
      ['c', 160, 140],
      ['x', 260, 140],
    ] as const
    const boxes = [
      [50, 86, 200, 20],
      [250, 86, 100, 20],
      [50, 106, 100, 40],
      [150, 106, 100, 20],
      [250, 106, 100, 20],
      [150, 126, 100, 20],
      [250, 126, 100, 20],
    ] as const
    expect(await textOf([{ texts, boxes }])).toBe(
      '| Both | Both | z |\n| --- | --- | --- |\n| a | b | y |\n| a | c | x |',
    )
  })

  it('that goes on at the top of the next page gets its head there, too', async () => {
    const more = [
      ['East', '4', '2'],
      ['Sea', '5', ''],
    ]
    const texts = await textOf([
      { texts: cellsAt(100), boxes: boxesAt(100) },
      { texts: cellsAt(100, more), boxes: boxesAt(100, 2) },
    ])
    const [head] = TABLE.split('\n| North')
    expect(texts).toBe(`${TABLE}\n\n${head}\n| East | 4 | 2 |\n| Sea | 5 |  |`)
  })

  it('is absent if columns of text are side by side', async () => {
    const texts = [...linesAt(300, 101, 9, 'Right'), ...linesAt(60, 100, 9, 'Left')]
    expect(await textOf([{ texts }])).not.toContain('|')
  })

  it('keeps close rows apart, though its head is further away', async () => {
    const texts = CELLS.flatMap((row, r) =>
      row.map((text, c) => [text, 60 + c * 100, r === 0 ? 95 : 100 + r * 12] as const),
    ).filter(([text]) => text !== '')
    expect(await textOf([{ texts }])).toBe(TABLE)
  })

  it('has the lines of a label in one cell, also where they nearly reach the next', async () => {
    const texts = CELLS.slice(1).flatMap(([name = '', ...numbers], r) => [
      [`${name} of the river`, 60, 100 + r * 24] as const,
      ['and the sea', 60, 111 + r * 24] as const,
      ...numbers.map((number, c) => [number, 146 + c * 100, 100 + r * 24] as const),
    ])
    const shown = texts.filter(([text]) => text !== '')
    expect(await textOf([{ texts: shown }])).toBe(`| North of the river and the sea | 12 |  |
| --- | --- | --- |
| South of the river and the sea | 7 | 1 |
| West of the river and the sea | 30 |  |`)
  })

  it('has all its columns, though the edge of another one is a little further left', async () => {
    const above = boxesAt(100)?.map(([x, y, width, height]) => [x + 1.5, y, width, height] as const)
    const texts = [...cellsAt(100), ...cellsAt(400)]
    const boxes = [...(above ?? []), ...(boxesAt(400) ?? [])]
    expect(await textOf([{ texts, boxes }])).toBe(`${TABLE}\n\n${TABLE}`)
  })

  it('is absent if blanks spread words over a line', async () => {
    const font = await (await PDFDocument.create()).embedFont('Helvetica')
    const spread = (words: readonly string[], y: number): Drawn['texts'] => {
      const widths = words.map((word) => font.widthOfTextAtSize(word, 10))
      const blank = (300 - widths.reduce((sum, width) => sum + width)) / (words.length - 1)
      return words.map((word, n) => {
        const before = widths.slice(0, n).reduce((sum, width) => sum + width + blank, 0)
        return [word, 60 + before, y]
      })
    }
    const [one, other] = [
      ['Ponds', 'and', 'river', 'banks', 'attract'],
      ['night', 'herons', 'that', 'settle', 'there'],
    ]
    const texts = [...spread(one ?? [], 100), ...spread(other ?? [], 114)]
    expect(await textOf([{ texts }])).toBe(`${one?.join(' ')}\n${other?.join(' ')}`)
  })

  it('is counted, so that it can be queried', async () => {
    expect(await extractPdf(await drawn([{ texts: cellsAt(100) }]))).toMatchObject({ tables: 1 })
    expect(await extractPdf(fixture('owls.pdf'))).not.toHaveProperty('tables')
  })

  it.each([
    [
      'lines',
      {
        texts: cellsAt(100),
        boxes: Array.from({ length: 3_000 }, (_, n) => [50, n / 4, 90, 20] as const),
      },
    ],
    [
      'texts',
      {
        texts: Array.from(
          { length: 6_000 },
          (_, n) => [`t${n}`, (n * 7) % 580, (n * 13) % 780] as const,
        ),
      },
    ],
  ])('takes bounded time among thousands of %s', onlyLong, async (_what, page) => {
    const bytes = await drawn([page])
    const started = processorMs()
    await extractPdf(bytes)
    expect(processorMs() - started).toBeLessThan(5_000)
  })
})

describe('The order of a page', () => {
  it('is that of what is seen, not of the file', async () => {
    const texts = [
      ['Total 12', 60, 300],
      ['Invoice', 60, 60, 20],
      ['For owls', 60, 100],
    ] as const
    expect(await textOf([{ texts }])).toBe('## Invoice\n\nFor owls\n\nTotal 12')
  })

  it('takes one column after the other, below what is above both', async () => {
    const title = ['About owls', 60, 60, 20] as const
    const text = await textOf([
      { texts: [...linesAt(300, 100, 8, 'Right'), ...linesAt(60, 100, 8, 'Left'), title] },
    ])
    expect(text).toMatch(/^## About owls\n\nLeft 0 .*Left 7 .*Right 0 .*Right 7/s)
  })

  it.each([
    ['a gap that is hardly wider than a blank', 8, 0],
    ['lines at different heights', 20, 6],
  ])('takes one column after the other: with %s', async (_what, gap, lower) => {
    const font = await (await PDFDocument.create()).embedFont('Helvetica')
    const x = 60 + font.widthOfTextAtSize('Left 0 writes much about owls', 10) + gap
    const texts = [...linesAt(60, 100, 8, 'Left'), ...linesAt(x, 100 + lower, 8, 'Right')]
    expect(await textOf([{ texts }])).toMatch(/^Left 0 .*Left 7 .*owls\s+Right 0 .*Right 7/s)
  })

  it('leaves a table in the column that it is in', async () => {
    const texts = [
      ...linesAt(60, 100, 5, 'Before'),
      ...cellsAt(190),
      ...linesAt(60, 280, 5, 'After'),
      ...linesAt(400, 100, 17, 'Beside'),
    ]
    const text = await textOf([{ texts, boxes: boxesAt(190) }])
    expect(text).toMatch(
      /^Before 0 .*Before 4 [^|]*\| Region .*\|\s+After 0 .*After 4 .*Beside 0 /s,
    )
    expect(text).toContain(TABLE)
  })

  it('has footnotes after the columns that they stand in, tied to their marks', async () => {
    const texts = [
      ...linesAt(60, 100, 8, 'Left'),
      ['1', 60 + 134, 194, 6],
      ['1', 60, 697, 5],
      ['Seen at night.', 64, 700, 8],
      ['Or heard.', 60, 709, 8],
      ...linesAt(300, 100, 8, 'Right'),
    ] as const
    const text = await textOf([{ texts }])
    expect(text).toMatch(/Left 7 writes much about owls\[\^1\]\s+Right 0 /)
    expect(text).toMatch(/\n\n\[\^1\]: Seen at night\.\nOr heard\.$/)
  })

  it('tells raised signs that have no footnote from the number or unit before them', async () => {
    const text = [
      ['An area of 12 m', 60, 100],
      ['2', 130, 96, 6],
    ] as const
    expect(await textOf([{ texts: text }])).toBe('An area of 12 m²')
  })

  it('has what heads and ends each page only once', async () => {
    const pages = [1, 2, 3, 4].map((number) => ({
      texts: [
        ['Handbook of owls', 60, 30],
        [`Text of chapter ${number * 10}`, 60, 100],
        ['More of it', 60, 114],
        [`Page ${number} of 4`, 60, 770],
      ] as const,
    }))
    const text = await textOf(pages)
    expect(text.match(/Handbook of owls/g)).toHaveLength(1)
    expect(text.match(/Page \d of 4/g)).toHaveLength(1)
    expect(text.match(/Text of chapter \d0/g)).toHaveLength(4)
  })

  it('has what heads pages of tables only once', async () => {
    const page = { texts: [['Handbook of owls', 60, 30] as const, ...cellsAt(100)] }
    expect((await textOf([page, page])).match(/Handbook of owls/g)).toHaveLength(1)
  })
})
