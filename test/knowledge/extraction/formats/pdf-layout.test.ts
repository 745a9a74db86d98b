import { PDFDocument, rgb } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { extractPdf } from '../../../../src/knowledge/extraction/formats/pdf.ts'
import { fixture } from '../../../support/forms.ts'
import { processorMs } from '../../../support/processor-time.ts'

/** A page with texts at places, counted from the top, and rectangles around cells. */
interface Drawn {
  texts: readonly (readonly [string, number, number, number?])[]
  boxes?: readonly (readonly [number, number, number, number])[] | undefined
}

async function drawn(pages: readonly Drawn[]): Promise<Buffer> {
  const pdf = await PDFDocument.create()
  for (const { texts, boxes = [] } of pages) {
    const page = pdf.addPage([600, 800])
    for (const [text, x, y, size = 10] of texts) page.drawText(text, { x, y: 800 - y, size })
    for (const [x, y, width, height] of boxes) {
      page.drawRectangle({
        x,
        y: 800 - y - height,
        width,
        height,
        borderWidth: 1,
        borderColor: rgb(0, 0, 0),
      })
    }
  }
  return Buffer.from(await pdf.save())
}

const textOf = async (pages: readonly Drawn[]) => (await extractPdf(await drawn(pages))).text.trim()

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

  it('has the text of a merged cell in the first of its cells', async () => {
    const texts = [
      ['Both', 60, 100],
      ['a', 60, 120],
      ['b', 160, 120],
      ['c', 160, 140],
      ['d', 60, 160],
      ['e', 160, 160],
    ] as const
    const boxes = [
      [50, 86, 200, 20],
      [50, 106, 100, 40],
      [150, 106, 100, 20],
      [150, 126, 100, 20],
      [50, 146, 100, 20],
      [150, 146, 100, 20],
    ] as const
    expect(await textOf([{ texts, boxes }])).toBe(
      '| Both |  |\n| --- | --- |\n| a | b |\n|  | c |\n| d | e |',
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

  it('is none where columns of text are side by side', async () => {
    const texts = [...linesAt(300, 101, 9, 'Right'), ...linesAt(60, 100, 9, 'Left')]
    expect(await textOf([{ texts }])).not.toContain('|')
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
  ])('takes bounded time among thousands of %s', async (_what, page) => {
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
})
