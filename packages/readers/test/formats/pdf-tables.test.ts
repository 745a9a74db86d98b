import { describe, expect, it } from 'vitest'
import { extractPdf } from '../../src/formats/pdf.ts'
import { type Drawn, textOf } from './drawn-pdf.ts'
import { rawPdf, text } from './raw-pdf.ts'

/** Texts in rows `step` apart, each cell at the place of its column; '' leaves one empty. */
const placed = (
  rows: readonly (readonly string[])[],
  columns: readonly number[],
  { top = 100, step = 14 } = {},
): Drawn['texts'] =>
  rows.flatMap((row, r) =>
    row.flatMap((text, c) => (text ? [[text, columns[c] ?? 0, top + r * step] as const] : [])),
  )

const shown = (rows: readonly (readonly string[])[]) => {
  const [head = '', ...more] = rows.map((row) => `| ${row.join(' | ')} |`)
  return [head, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...more].join('\n')
}

const PORTS = [
  ['Port', 'Ships', 'Tons'],
  ['Arholm', '41', '1,900'],
  ['Brekke', '7', '310'],
  ['Dale', '112', '8,050'],
  ['Eid', '63', '2,274'],
]
const COLUMNS = [60, 200, 320]

// xberg-io/xberg#1221
describe('A table that lies on its side', () => {
  const GAPS = [
    ['Port', 'Jan', 'Feb', 'Mar'],
    ['Arholm', '41', '', '19'],
    ['Brekke', '', '7', ''],
    ['Dale', '11', '12', '8'],
  ]
  /** Draws within a page that is turned, whose first row begins at `x` and `y`. */
  const turned = (matrix: string, x: number, y: number) => {
    const texts = GAPS.flatMap((row, r) => row.map((cell, c) => text(cell, c * 90, -r * 16)))
    return `q ${matrix} ${x} ${y} cm\n${texts.join('')}Q\n`
  }

  it.each([
    ['read from the right', turned('0 1 -1 0', 200, 100), ''],
    ['read from the left', turned('0 -1 1 0', 200, 700), ''],
    ['upside down', turned('-1 0 0 -1', 500, 300), ''],
    ['read from the right, on a page that is turned', turned('0 1 -1 0', 200, 100), '/Rotate 180'],
  ])('keeps its rows and columns: %s', async (_case, content, page) => {
    const upright = text('Ships', 60, 780) + text('7', 290, 30)
    const { text: read } = await extractPdf(rawPdf(upright + content, { page }))
    expect(read).toContain(shown(GAPS))
    expect(read).toMatch(/Ships\n7\s*$/)
  })
})

describe('A table whose rules are not around each cell', () => {
  it('has a row for each line of numbers between two rules', async () => {
    const walls = [50, 190, 310, 430].map((x) => [x, 86, x, 165] as const)
    const levels = [86, 106, 165].map((y) => [50, y, 430, y] as const)
    const texts = placed(PORTS, COLUMNS)
    expect(await textOf([{ texts, lines: [...walls, ...levels] }])).toBe(shown(PORTS))
  })

  it('has columns that no rule divides, and one beyond its outermost rule', async () => {
    const rows = [
      ['Port', 'Ships', 'Tons', 'Crew'],
      ['Arholm', '41', '1,900', '87'],
      ['Brekke', '7', '310', '12'],
      ['Dale', '112', '8,050', '240'],
    ]
    const lines = [
      [190, 86, 190, 150],
      [50, 86, 460, 86],
      [50, 106, 460, 106],
      [50, 150, 460, 150],
    ] as const
    const texts = placed(rows, [60, 200, 280, 400])
    expect(await textOf([{ texts, lines }])).toBe(shown(rows))
  })

  it('has labels beside the columns that alone have rules above their totals', async () => {
    const rows = [
      ['Dollars in millions', '2025', '2024'],
      ['Cash', '2,853', '3,053'],
      ['Inventories', '4,366', '4,034'],
      ['Other current assets', '349', '266'],
      ['Total current assets', '7,568', '7,353'],
      ['Goodwill', '10,051', '10,513'],
      ['Total assets', '17,619', '17,866'],
    ]
    // Each rule is drawn in two parts, one a column.
    const lines = [104, 146, 160, 174, 188].flatMap((y) => [
      [300, y, 360, y] as const,
      [370, y, 430, y] as const,
    ])
    const texts = placed(rows, [60, 320, 390])
    expect(await textOf([{ texts, lines }])).toBe(shown(rows))
  })

  it('has the labels before columns that are framed', async () => {
    const rows = [
      ['Quarter', '2025', '2024', '2023'],
      ['Revenue', '81,288', '41,651', '40,905'],
      ['Cost of sales', '30,821', '8,484', '8,054'],
      ['Selling and administration', '12,703', '11,597', '12,726'],
      ['Income', '22,459', '6,630', '10,867'],
    ]
    const boxes = [104, 118, 132, 146].map((y) => [330, y, 160, 14] as const)
    const texts = placed(rows, [60, 260, 340, 420])
    expect(await textOf([{ texts, boxes }])).toBe(shown(rows))
  })

  it.each([
    [
      'prose',
      320,
      ['Some ships are old.', 'All are counted.', 'None is lost at sea.', 'So be it.'],
    ],
    ['prose before it', 60, ['Some ships are old', 'All are counted', 'None is lost', 'So be it']],
  ])('of numbers alone stays apart from %s', async (_case, x, prose) => {
    const rows = [
      ['2020', '14', '15'],
      ['2021', '16', '17'],
      ['2022', '18', '19'],
      ['2023', '20', '21'],
    ]
    const left = x < 300 ? 300 : 50
    const columns = [0, 70, 140].map((at) => left + 10 + at)
    const lines = [
      ...[0, 70, 140, 210].map((at) => [left + at, 86, left + at, 150] as const),
      ...[86, 102, 118, 134, 150].map((y) => [left, y, left + 210, y] as const),
    ]
    const texts = [
      ...placed(rows, columns, { step: 16, top: 98 }),
      ...prose.map((text, n) => [text, x, 98 + n * 16] as const),
    ]
    const read = await textOf([{ texts, lines }])
    for (const row of rows) expect(read).toContain(`| ${row.join(' | ')} |\n`.trim())
    expect(read).not.toMatch(/ships.*\|/)
  })

  it('of numbers alone stays apart from one of words', async () => {
    const numbers = [
      ['2020', '14'],
      ['2021', '16'],
      ['2022', '18'],
    ]
    const words = [
      ['Name', 'Town'],
      ['Ann', 'Oslo'],
      ['Bo', 'Lund'],
    ]
    const grid = (left: number) => [
      ...[0, 70, 140].map((at) => [left + at, 86, left + at, 134] as const),
      ...[86, 102, 118, 134].map((y) => [left, y, left + 140, y] as const),
    ]
    const texts = [
      ...placed(words, [60, 130], { step: 16, top: 98 }),
      ...placed(numbers, [290, 360], { step: 16, top: 98 }),
    ]
    const read = await textOf([{ texts, lines: [...grid(50), ...grid(280)] }])
    expect(read).toBe(`${shown(words)}\n\n${shown(numbers)}`)
  })

  it('goes on in a frame beside the one that has its labels', async () => {
    const rows = [
      ['Sales', '23,706', '24,804', '94,943', '93,775'],
      ['Earnings', '3,520', '4,736', '17,941', '20,878'],
      ['A share', '1.33', '1.77', '6.73', '7.81'],
    ]
    const levels = [86, 104, 122, 140]
    const lines = [
      ...[40, 290, 310, 520].map((x) => [x, 86, x, 140] as const),
      ...levels.flatMap((y) => [[40, y, 290, y] as const, [310, y, 520, y] as const]),
    ]
    const texts = placed(rows, [60, 160, 230, 340, 440], { step: 18 })
    expect(await textOf([{ texts, lines }])).toBe(shown(rows))
  })

  it('has the labels that stand a little above their numbers, each with its currency apart', async () => {
    const labels = ['Revenues', 'Costs of goods', 'Costs of sale', 'Operating income']
    const numbers = ['402,532', '121,432', '115,118', '165,982']
    const texts = labels.flatMap((label, row) => {
      const at = 100 + row * 14
      return [
        [label, 60, at - 1.4] as const,
        ['$', 300, at] as const,
        [numbers[row] ?? '', 330, at] as const,
        ['$', 390, at] as const,
        [numbers.at(-1 - row) ?? '', 420, at] as const,
      ]
    })
    const lines = [88, 131, 145].flatMap((y) => [
      [298, y, 372, y] as const,
      [384, y, 462, y] as const,
    ])
    const cells = labels.map((label, row) => [
      label,
      `$${numbers[row]}`,
      `$${numbers.at(-1 - row)}`,
    ])
    expect(await textOf([{ texts, lines }])).toBe(shown(cells))
  })

  it('has its heads above the columns that they span, by the rules below them', async () => {
    const texts = [
      ['In summer', 210, 100],
      ['In winter', 400, 100],
      ...placed(
        [
          ['Port', 'Ships', 'Tons', 'Ships', 'Tons'],
          ['Arholm', '41', '1,900', '12', '760'],
          ['Brekke', '7', '310', '2', '95'],
        ],
        [60, 200, 280, 380, 460],
        { top: 116, step: 16 },
      ),
    ] as const
    const lines = [
      [50, 88, 520, 88],
      [195, 104, 330, 104],
      [375, 104, 520, 104],
      [50, 120, 520, 120],
      [50, 155, 520, 155],
    ] as const
    expect(await textOf([{ texts, lines }])).toBe(
      shown([
        ['', 'In summer', 'In summer', 'In winter', 'In winter'],
        ['Port', 'Ships', 'Tons', 'Ships', 'Tons'],
        ['Arholm', '41', '1,900', '12', '760'],
        ['Brekke', '7', '310', '2', '95'],
      ]),
    )
  })

  it('leaves the title and the note within its frame outside', async () => {
    const texts = [
      ['Ships by port', 200, 80],
      ...placed(PORTS, COLUMNS, { step: 20 }),
      ['Counted at the quay.', 60, 200],
    ] as const
    const walls = [190, 310].map((x) => [x, 86, x, 186] as const)
    const frame = [50, 430].map((x) => [x, 66, x, 206] as const)
    const levels = [66, 86, 106, 126, 146, 166, 186, 206].map((y) => [50, y, 430, y] as const)
    expect(await textOf([{ texts, lines: [...walls, ...frame, ...levels] }])).toBe(
      `Ships by port\n\n${shown(PORTS)}\n\nCounted at the quay.`,
    )
  })

  it('is none where rules stand above and below columns of text', async () => {
    const prose = (word: string, x: number) =>
      Array.from(
        { length: 9 },
        (_, n) => [`${word} ${n} writes much about owls`, x, 100 + n * 14] as const,
      )
    const lines = [80, 230].map((y) => [50, y, 520, y] as const)
    const texts = [...prose('Left', 60), ...prose('Right', 300)]
    expect(await textOf([{ texts, lines }])).not.toContain('|')
  })
})

describe('A table without rules', () => {
  it('has its heads in the middle of the columns that they span', async () => {
    const rows = [
      ['Port', '2024', '2025', '2024', '2025'],
      ['Arholm', '41', '44', '12', '13'],
      ['Brekke', '27', '31', '22', '23'],
      ['Dale', '12', '10', '19', '17'],
    ]
    const texts = [
      ['Ships', 258, 100],
      ['Boats', 437, 100],
      ...placed(rows, [60, 230, 290, 410, 470], { top: 114 }),
    ] as const
    expect(await textOf([{ texts }])).toBe(
      shown([['', 'Ships', 'Ships', 'Boats', 'Boats'], ...rows]),
    )
  })

  it('has a label of two lines in one row, whichever of them its numbers stand beside', async () => {
    const rows = [
      ['Total landings', '', ''],
      ['of herring', '895', '901'],
      ['Total landings', '77', '81'],
      ['of mackerel', '', ''],
      ['Eels', '5', '6'],
    ]
    expect(await textOf([{ texts: placed(rows, COLUMNS) }])).toBe(
      shown([
        ['Total landings of herring', '895', '901'],
        ['Total landings of mackerel', '77', '81'],
        ['Eels', '5', '6'],
      ]),
    )
  })

  it('keeps a heading between its rows apart from the label below it', async () => {
    const rows = [
      ['Port', 'Ships', 'Tons'],
      ['Northern shore and islands', '', ''],
      ['Arholm', '41', '1,900'],
      ['Brekke', '7', '310'],
      ['Southern shore', '', ''],
      ['Dale', '112', '8,050'],
    ]
    expect(await textOf([{ texts: placed(rows, COLUMNS) }])).toBe(shown(rows))
  })

  it('keeps rows apart that have numbers in other columns', async () => {
    const rows = [
      ['Port', 'Ships', 'Tons', 'Crew'],
      ['Arholm', '41', '', '9'],
      ['Brekke', '', '310', ''],
      ['Dale', '112', '8,050', '4'],
    ]
    expect(await textOf([{ texts: placed(rows, [60, 200, 280, 360]) }])).toBe(shown(rows))
  })

  it('has a column of numbers after labels with leaders', async () => {
    const rows = [
      ['Arholm ..............', '41', '1,900'],
      ['Brekke ..............', '7', '310'],
      ['Dale ................', '112', '8,050'],
    ]
    expect(await textOf([{ texts: placed(rows, COLUMNS) }])).toBe(
      shown(rows.map(([label = '', ...more]) => [label.replace(/ \.+/, ''), ...more])),
    )
  })
})
