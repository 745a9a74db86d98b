import { utils, type WorkBook, write } from '@e965/xlsx'
import { strToU8, unzipSync, type Zippable, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { type PartsOfSheets, partsOfXlsx, sheetPaths } from '../../src/formats/sheet-parts.ts'
import { extractWorkbook, rowsToText } from '../../src/formats/xlsx.ts'
import { type TableRow, toText } from '../../src/sheet-tables.ts'
import { openZip } from '../../src/zip-archive.ts'

const NO_PARTS: PartsOfSheets = new Map()

it('A workbook is its sheets, a line per row, with dates as dates', async () => {
  const { text } = await extractWorkbook(fixture('ringing.xlsx'), NO_PARTS)
  expect(text).toBe(
    [
      '## Ringing',
      '',
      '- Bird: Robin; Ringed: 2024-05-17; Weight: 16.4',
      '- Bird: Wren; Ringed: 2024-06-02; Weight: 9',
      '',
      '',
    ].join('\n'),
  )
})

it('A workbook has percentages, money, times and durations as they are shown, and names hidden sheets', async () => {
  const sheet = utils.aoa_to_sheet([
    ['Item', 'Price', 'Share', 'Opens', 'Takes', 'Count'],
    ['Tea', 1_234.5, 0.125, 9.5 / 24, 26.25 / 24, 2.5625],
  ])
  const formats = ['#,##0.00 [$€-407]', '0.0%', 'hh:mm', '[h]:mm', '0.0']
  for (const [column, format] of formats.entries()) sheet[`${'BCDEF'[column]}2`].z = format
  const book = utils.book_new()
  utils.book_append_sheet(book, sheet, 'Prices')
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Only one cell']]), 'Notes')
  book.Workbook = { Sheets: [{}, { Hidden: 1 }] }
  const { text, warnings } = await extractWorkbook(write(book, { type: 'buffer' }), NO_PARTS)
  expect(text).toContain(
    '- Item: Tea; Price: 1,234.50 €; Share: 12.5%; Opens: 09:30; Takes: 26:15; Count: 2.5625\n',
  )
  expect(text).toContain('## Notes\n\n- Only one cell')
  expect(warnings).toEqual([
    { code: 'hidden_sheets', message: 'Hidden sheets were read, too: Notes' },
  ])
})

it('A workbook has the comments on its cells after the sheet', async () => {
  const sheet = utils.aoa_to_sheet([
    ['Bird', 'Pairs'],
    ['Tern', 52],
    ['Gull', 9],
  ])
  utils.cell_add_comment(sheet.B2, 'Ann: Too low,\nI think', 'Ann')
  utils.cell_add_comment(sheet.B3, ' ', 'Ann')
  const book = utils.book_new(sheet, 'Colonies')
  const { text } = await extractWorkbook(write(book, { type: 'buffer' }), NO_PARTS)
  expect(text).toBe(
    '## Colonies\n\n- Bird: Tern; Pairs: 52\n- Bird: Gull; Pairs: 9\n\n' +
      '[Comment by Ann on B2: Too low, I think]\n\n',
  )
})

/** A workbook with its parts as Excel writes them. */
async function extractParts(book: WorkBook, change: (parts: Zippable) => void) {
  const parts: Zippable = unzipSync(write(book, { type: 'buffer' }))
  change(parts)
  const bytes = Buffer.from(zipSync(parts))
  const zip = await openZip(bytes)
  return extractWorkbook(bytes, await partsOfXlsx(zip, await sheetPaths(zip)))
}

it('A workbook has hidden rows and columns read, which a warning says where they hold values', async () => {
  const book = utils.book_new()
  for (const name of ['Rows', 'Columns', 'Unused']) {
    const sheet = utils.aoa_to_sheet([
      ['Bird', 'Pairs'],
      ['Tern', 52],
      ['Gull', 7],
    ])
    const unused = name === 'Unused' ? 3 : 0
    sheet['!rows'] = name === 'Columns' ? [] : [...Array(unused + 1), { hidden: true }]
    sheet['!cols'] = name === 'Rows' ? [] : [...Array(unused + 1), { hidden: true }]
    utils.book_append_sheet(book, sheet, name)
  }
  const { text, warnings } = await extractParts(book, () => undefined)
  expect(text.match(/- Bird: Tern; Pairs: 52/g)).toHaveLength(3)
  expect(warnings).toEqual([
    { code: 'hidden_cells', message: 'Hidden rows or columns were read, too: Rows, Columns' },
  ])
})

it('A workbook has the titles of its charts, with their values where no sheet has them, text boxes and SmartArt', async () => {
  const book = utils.book_new()
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['Bird', 'Pairs'],
      ['Tern', 52],
    ]),
    'Birds',
  )
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`
  const relations = (...all: string[]) => strToU8(`<Relationships>${all.join('')}</Relationships>`)
  const chart = (title: string, values: string) =>
    strToU8(
      `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>${title}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:val>${values}</c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`,
    )
  const point = '<c:pt idx="0"><c:v>52</c:v></c:pt>'
  const { text } = await extractParts(book, (parts) => {
    parts['xl/worksheets/_rels/sheet1.xml.rels'] = relations(
      relation('rId1', 'drawing', '../drawings/drawing1.xml'),
    )
    parts['xl/drawings/drawing1.xml'] = strToU8(
      '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>Counted </a:t></a:r><a:r><a:t>in May.</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>No owls.</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:sp><xdr:txBody><a:p/></xdr:txBody></xdr:sp><mc:AlternateContent><mc:Fallback><xdr:sp><xdr:txBody><a:p><a:r><a:t>A slicer.</a:t></a:r></a:p></xdr:txBody></xdr:sp></mc:Fallback></mc:AlternateContent></xdr:wsDr>',
    )
    parts['xl/drawings/_rels/drawing1.xml.rels'] = relations(
      relation('rId1', 'chart', '../charts/chart1.xml'),
      relation('rId2', 'chart', '/xl/charts/chart2.xml'),
      relation('rId3', 'diagramData', '../diagrams/data1.xml'),
    )
    parts['xl/diagrams/data1.xml'] = strToU8(
      '<dgm:dataModel><dgm:ptLst><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Ring</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>',
    )
    parts['xl/charts/chart1.xml'] = chart(
      'Of the sheet',
      `<c:numRef><c:f>Birds!$B$2</c:f><c:numCache>${point}</c:numCache></c:numRef>`,
    )
    parts['xl/charts/chart2.xml'] = chart('Of its own', `<c:numLit>${point}</c:numLit>`)
  })
  expect(text).toBe(
    '## Birds\n\n- Bird: Tern; Pairs: 52\n\nCounted in May.\nNo owls.\n\nChart: Of the sheet\n\nChart: Of its own\n\n| Category |  |\n| --- | --- |\n| 1 | 52 |\n\n- Ring\n\n',
  )
})

it('A workbook that lacks its parts is none', async () => {
  const bytes = zipFile([{ name: 'xl/workbook.xml', content: '<workbook/>' }])
  const extracted = extractWorkbook(bytes, NO_PARTS)
  await expect(extracted.then(({ text }) => text || Promise.reject())).rejects.not.toBe('')
})

const linesOf = (rows: readonly TableRow[]) => rowsToText(rows).trimEnd().split('\n')

describe('A row becomes a line', () => {
  it('with the name of the column before each value', () => {
    const rows = [
      ['Species', 'Pairs'],
      ['Little tern', 52],
      ['Arctic tern', 1_550],
    ]
    expect(linesOf(rows)).toEqual([
      '- Species: Little tern; Pairs: 52',
      '- Species: Arctic tern; Pairs: 1550',
    ])
  })

  it('without what is empty in it, and not at all where all is', () => {
    const rows = [
      ['a', 'b', 'c'],
      [1, null, ''],
      [undefined, '  ', null],
      ['', 2, true],
    ]
    expect(linesOf(rows)).toEqual(['- a: 1', '- b: 2; c: true'])
  })

  it('also where it is longer or shorter than the head', () => {
    expect(linesOf([['a', 'b'], [1, 2, 3], [4]])).toEqual(['- a: 1; b: 2; 3', '- a: 4'])
  })

  it('of one line, whatever the cells hold', () => {
    expect(linesOf([['note'], ['two\nlines\tand  blanks']])).toEqual([
      '- note: two lines and blanks',
    ])
  })
})

describe('No cell is lost', () => {
  it('where a sheet has one row, or one cell', () => {
    expect(linesOf([['Name', 'Acme']])).toEqual(['- Name; Acme'])
    expect(linesOf([['Closed']])).toEqual(['- Closed'])
  })

  it('of a form, whose first row is no head', () => {
    const form = [
      ['Company:', 'Acme'],
      ['City:', 'Bern'],
      ['Staff:', 12],
    ]
    expect(linesOf(form)).toEqual(['- Company:; Acme', '- City:; Bern', '- Staff:; 12'])
  })

  it('of a time of day or a duration, which is no date', () => {
    const day = 24 * 3_600_000
    const since = (milliseconds: number) => new Date(Date.UTC(1899, 11, 30) + milliseconds)
    expect(toText(since(9.5 * 3_600_000))).toBe('09:30')
    expect(toText(since(day + 2.5 * 3_600_000 + 5_000))).toBe('26:30:05')
    expect(toText(new Date('1901-01-01'))).toBe('1901-01-01')
  })
})

describe('A long table', () => {
  const rows = Array.from({ length: 60 }, (_, i) => [i])

  it('states at intervals which rows follow, counted with the head', () => {
    const headings = linesOf([['number'], ...rows]).filter((line) => line.startsWith('#'))
    expect(headings).toEqual(['### Rows 2 to 26', '### Rows 27 to 51', '### Rows 52 to 61'])
  })

  it('counts from one where there is no head', () => {
    expect(linesOf(rows)[0]).toBe('')
    expect(linesOf(rows)[1]).toBe('### Rows 1 to 25')
  })

  it('is one of more rows than a passage holds', () => {
    expect(linesOf(rows.slice(0, 25))[0]).toBe('- 0')
  })
})

describe('The first row is the head', () => {
  it.each([
    [
      'numbers',
      [
        [1, 2],
        [3, 4],
      ],
      '- 1; 2',
    ],
    [
      'years',
      [
        ['2023', '2024'],
        [3, 4],
      ],
      '- 2023; 2024',
    ],
    ['a sentence', [['x'.repeat(101)], ['y']], `- ${'x'.repeat(101)}`],
    [
      'amounts',
      [
        ['€ 12.50', '13 %'],
        ['a', 'b'],
      ],
      '- € 12.50; 13 %',
    ],
  ])('unless it holds %s', (_case, rows, first) => expect(linesOf(rows)[0]).toBe(first))

  it.each<[string, TableRow[], string]>([
    [
      'has a gap',
      [
        ['a', '', 'c'],
        [1, 2, 3],
      ],
      '- a: 1; 2; c: 3',
    ],
    [
      'has a name twice',
      [
        ['a', 'a'],
        [3, 4],
      ],
      '- a: 3; a: 4',
    ],
    [
      'has years',
      [
        ['Region', '2023', '2024'],
        ['north', 5, 6],
      ],
      '- Region: north; 2023: 5; 2024: 6',
    ],
    [
      'stands over another',
      [
        ['Region', '2024', ''],
        ['', 'Q1', 'Q2'],
        ['north', 5, 6],
      ],
      '- Region: north; 2024 Q1: 5; 2024 Q2: 6',
    ],
  ])('though it %s', (_case, rows, line) => expect(linesOf(rows)).toEqual([line]))

  it('under titles, each of several tables with its own', () => {
    const rows: TableRow[] = [
      ['Sales', null],
      [],
      ['Region', 'Amount'],
      ['north', 5],
      ['south', 7],
      [],
      ['Staff'],
      ['Name', 'City', 'Age'],
      ['Ada', 'Oslo', 36],
      [],
      ['Source: the office'],
    ]
    expect(rowsToText(rows)).toBe(
      '\n### Sales\n\n- Region: north; Amount: 5\n- Region: south; Amount: 7\n' +
        '\n### Staff\n\n- Name: Ada; City: Oslo; Age: 36\n\nSource: the office\n',
    )
  })

  it.each<[string, TableRow[], string]>([
    [
      'a table that begins further right',
      [[null, 'Name', 'Age'], [null, 'Ada', 36], [], ['Oslo', 'Bob', 40]],
      '- Name: Ada; Age: 36\n- Oslo; Bob; 40\n',
    ],
    [
      'two tables beside each other',
      [['A', 'B', null, 'D', 'E'], ['a', 2, null, 'd', 4], [], ['x', 5, null, 'y', 6]],
      '- A: a; B: 2\n- D: d; E: 4\n- x; 5; y; 6\n',
    ],
    [
      'the last of more tables than are told apart',
      [
        ...Array.from({ length: 50 }, (_, n): TableRow[] => [
          [null, 'a', `n${n}`],
          [null, 1, n],
          [],
        ]).flat(),
        ['left', 'a', 'n50'],
        ['x', 1, 50],
      ],
      `${Array.from({ length: 50 }, (_, n) => `- a: 1; n${n}: ${n}\n`).join('')}- left; a: a; n49: n50\n- x; a: 1; n49: 50\n`,
    ],
  ])('and rows below %s lose no cell', (_case, rows, text) => {
    expect(rowsToText(rows)).toBe(text)
  })

  it('though it ends in empty cells', () => {
    expect(
      linesOf([
        ['a', 'b', '', null],
        [1, 2],
      ]),
    ).toEqual(['- a: 1; b: 2'])
  })
})

describe('A table without measure', () => {
  it('ends with a line that says how much there is', () => {
    const rows = [['n'], ...Array.from({ length: 9_000 }, (_, i) => [`${i} ${'x'.repeat(300)}`])]
    const text = rowsToText(rows)
    expect(text.length).toBeLessThan(2_001_000)
    const [, taken, total] = /\(The first (\d+) of (\d+) rows; .*\)\n$/.exec(text) ?? []
    expect(total).toBe('9000')
    expect(text.match(/^- /gm)).toHaveLength(Number(taken))
  })

  it('says so, too, where not all of it was looked at', () => {
    expect(rowsToText([['a'], [1]], true)).toBe(
      '- a: 1\n\n(The first 1 rows; the whole table is in the file.)\n',
    )
  })

  it('names the columns that are still to be filled in', () => {
    const rows = [
      ['Bird', 'Seen on', 'Signature'],
      ['Robin', '', ''],
      ['Wren', 3, ' '],
    ]
    expect(rowsToText(rows)).toBe(
      '- Bird: Robin\n- Bird: Wren; Seen on: 3\n\n(Columns without values: Signature)\n',
    )
  })

  it('has bounded rows and cells', () => {
    const wide = Array.from({ length: 600 }, (_, i) => `c${i}`)
    const [line = ''] = linesOf([wide, wide])
    expect(line.split('; ')).toHaveLength(500)
    const long = 'word '.repeat(30_000)
    expect(toText(long.slice(0, 100_000))).toBe(long.slice(0, 99_999))
    expect(toText(long)).toBe(`${long.slice(0, 99_999)} …`)
  })
})

describe('A cell', () => {
  it.each([
    [new Date('2024-05-17T00:00:00Z'), '2024-05-17'],
    [new Date('2024-05-17T08:30:00Z'), '2024-05-17T08:30:00Z'],
    [new Date(Number.NaN), ''],
    [0, '0'],
    [0.1, '0.1'],
    [false, 'false'],
    [null, ''],
    [undefined, ''],
    [' padded ', 'padded'],
  ])('%s is written %s', (cell, text) => expect(toText(cell)).toBe(text))
})
