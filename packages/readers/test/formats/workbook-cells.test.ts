import { type BookType, CFB, utils, write } from '@e965/xlsx'
import { strToU8, unzipSync, type Zippable, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { extractFile } from '../../src/extract-file.ts'
import { readWorkbook } from '../../src/formats/read-workbook.ts'
import type { PartsOfSheets } from '../../src/formats/sheet-parts.ts'
import { extractWorkbook, rowsToText } from '../../src/formats/xlsx.ts'
import type { TableRow } from '../../src/sheet-tables.ts'
import { tablesOfWorkbook } from '../../src/tables.ts'
import { sourceFile } from '../source-file.ts'

const NO_PARTS: PartsOfSheets = new Map()
const linesOf = (rows: readonly TableRow[]) => rowsToText(rows).trimEnd().split('\n')

const range = (reference: string) => utils.decode_range(reference)

// exceljs/exceljs#2301
it.each<BookType>(['xlsx', 'xlsb', 'biff8', 'ods'])(
  'A number has the digits that Excel shows (%s)',
  async (bookType) => {
    const numbers = [0.1 + 0.2, 1.1 * 1.1, 1 / 3, 4_000_000_001, -0.0632]
    const sheet = utils.aoa_to_sheet([['n'], ...numbers.map((number) => [number])])
    const bytes = write(utils.book_new(sheet, 'N'), { type: 'buffer', bookType })
    const [{ rows } = { rows: [] }] = await readWorkbook(bytes)
    expect(rows.slice(1).flat()).toEqual([0.3, 1.21, 0.333333333333333, 4_000_000_001, -0.0632])
  },
)

describe('A merged cell', () => {
  const WATCHES: TableRow[] = [
    ['Watches of the harbour', null, null, null],
    ['Watch', 'Crew', '2024', null],
    [null, null, 'Day', 'Night'],
    ['First', 'Ida', 6, 2],
    [null, 'Bo', 5, 3],
    ['Second', 'Mira', 4, null],
  ]

  it.each<BookType>(['xlsx', 'xlsb', 'biff8', 'ods'])(
    'has its value in each row and column that it spans, also in the head (%s)',
    async (bookType) => {
      const sheet = utils.aoa_to_sheet(WATCHES.map((row) => [...row]))
      sheet['!merges'] = ['A1:D1', 'A2:A3', 'B2:B3', 'C2:D2', 'A4:A5', 'C6:D6'].map(range)
      const bytes = write(utils.book_new(sheet, 'Crew'), { type: 'buffer', bookType })
      const { text } = await extractWorkbook(bytes, NO_PARTS)
      expect(text).toContain(
        [
          '### Watches of the harbour',
          '',
          '- Watch: First; Crew: Ida; 2024 Day: 6; 2024 Night: 2',
          '- Watch: First; Crew: Bo; 2024 Day: 5; 2024 Night: 3',
          '- Watch: Second; Crew: Mira; 2024 Day: 4; 2024 Night: 4',
          '',
        ].join('\n'),
      )
    },
  )

  it('adds no rows, and leaves a title between rows alone', async () => {
    const sheet = utils.aoa_to_sheet([
      ['Pier', 'Ships'],
      ['North', 3],
      ['The old harbour'],
      ['South', 4],
    ])
    sheet['!merges'] = ['A3:B3', 'A4:A900000'].map(range)
    const { text } = await extractWorkbook(
      write(utils.book_new(sheet, 'Piers'), { type: 'buffer' }),
      NO_PARTS,
    )
    expect(text).toBe(
      '## Piers\n\n- Pier: North; Ships: 3\n- Pier: The old harbour\n- Pier: South; Ships: 4\n\n',
    )
  })
})

it('Number formats keep leading zeros, hyphens and words, and show units', async () => {
  const cells: [number, string, string][] = [
    [421, '00000', '00421'],
    [5_551_234, '000"-"0000', '555-1234'],
    [4_570_123_456, '[<=9999999]###-####;(###) ###-####', '(457) 012-3456'],
    [17, '"LOT-"0000', 'LOT-0017'],
    [1, '"open";"shut";"shut"', 'open'],
    [12.5, '0.0" kg"', '12.5 kg'],
    [1_234.5, '#,##0.00 "zł"', '1,234.50 zł'],
    [0, '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-', '0'],
    [0.75, '# ?/?', '0.75'],
    [-3.5, '#,##0.0;(#,##0.0)', '-3.5'],
    [1_234_567, '#,##0.0,,"M"', '1234567'],
  ]
  const sheet = utils.aoa_to_sheet([['Value'], ...cells.map(([value]) => [value])])
  for (const [row, [, format]] of cells.entries()) sheet[`A${row + 2}`].z = format
  const { text } = await extractWorkbook(
    write(utils.book_new(sheet, 'Formats'), { type: 'buffer' }),
    NO_PARTS,
  )
  expect(text.match(/(?<=Value: ).*/g)).toEqual(cells.map(([, , shown]) => shown))
})

it('Formulas without stored values are shown, with a warning', async () => {
  const book = utils.book_new(utils.aoa_to_sheet([['Qty', 'Total'], [2], [3]]), 'Sums')
  const parts: Zippable = unzipSync(write(book, { type: 'buffer' }))
  const path = 'xl/worksheets/sheet1.xml'
  const xml = Buffer.from(unzipSync(write(book, { type: 'buffer' }))[path] ?? []).toString()
  parts[path] = strToU8(
    xml
      .replace('</row><row r="3"', '<c r="B2"><f>A2&lt;1</f></c></row><row r="3"')
      .replace('</row></sheetData>', '<c r="B3"><f>SUM(A2:A3)</f><v></v></c></row></sheetData>'),
  )
  const file = sourceFile('sums.xlsx', zipSync(parts))
  const { text, warnings } = await extractFile(file)
  expect(text).toContain('- Qty: 2; Total: =A2<1\n- Qty: 3; Total: =SUM(A2:A3)\n')
  expect(warnings).toEqual([
    {
      code: 'uncalculated_formulas',
      message:
        'Formulas without stored values are shown as formulas: Sums. To have values, open the file in a spreadsheet program, save it and send it again',
    },
  ])
})

describe('A workbook of Excel 97 with formulas', () => {
  const record = (type: number, ...data: number[]) =>
    Buffer.from([type & 0xff, type >> 8, data.length & 0xff, data.length >> 8, ...data])
  const label = (column: number, word: string) =>
    record(0x204, 0, 0, column, 0, 0, 0, word.length, 0, 0, ...Buffer.from(word))
  const number = (row: number, column: number, value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    return record(0x203, row, 0, column, 0, 0, 0, ...bytes)
  }
  /** `=A2*2` with a value that is stored. */
  const formula = (row: number, column: number, value: readonly number[]) => {
    const tokens = [0x44, row, 0, 0, 0xc0, 0x1e, 2, 0, 0x05]
    const flags = [0, 0, 0, 0, 0, 0]
    return record(0x6, row, 0, column, 0, 0, 0, ...value, ...flags, tokens.length, 0, ...tokens)
  }
  const [begin, end] = [record(0x809, 0, 6, 5, 0, ...Array(12).fill(0)), record(0xa)]
  const beginSheet = record(0x809, 0, 6, 0x10, 0, ...Array(12).fill(0))
  const EMPTY = [3, 0, 0, 0, 0, 0, 0xff, 0xff]
  const ZERO = [0, 0, 0, 0, 0, 0, 0, 0]
  const FOUR = [0, 0, 0, 0, 0, 0, 0x10, 0x40]

  function workbook(...values: (readonly number[])[]) {
    const name = [4, 0, ...Buffer.from('Sums')]
    const start = begin.length + 4 + 6 + name.length + end.length
    const sheet = record(0x85, start, 0, 0, 0, 0, 0, ...name)
    const cells = [label(0, 'Qty'), label(1, 'Total')]
    for (const [place, value] of values.entries()) {
      cells.push(number(place + 1, 0, place + 2), formula(place + 1, 1, value))
    }
    const container = CFB.utils.cfb_new()
    const stream = Buffer.concat([begin, sheet, end, beginSheet, ...cells, end])
    CFB.utils.cfb_add(container, '/Workbook', stream)
    return sourceFile('sums.xls', Buffer.from(CFB.write(container, { type: 'buffer' })))
  }

  it.each([
    ['shown where no values are stored', [EMPTY, EMPTY], ['=A2*2', '=A3*2']],
    ['shown where 0 is stored for each', [ZERO, ZERO], ['=A2*2', '=A3*2']],
    ['not shown where any has another value', [FOUR, ZERO], ['4', '0']],
  ])('They are %s', async (_, values, shown) => {
    const { text, warnings } = await extractFile(workbook(...values))
    expect(Array.from(text.matchAll(/Total: (.*)/g), ([, value]) => value)).toEqual(shown)
    const isWarned = shown[0]?.startsWith('=') === true
    expect(warnings?.map(({ code }) => code)).toEqual(
      isWarned ? ['uncalculated_formulas'] : undefined,
    )
  })

  it('SQL sees the formulas, too, with a remark', async () => {
    const [sheet] = await tablesOfWorkbook(workbook(EMPTY).bytes)
    expect(sheet?.tables[0]).toMatchObject({
      rows: [[2, '=A2*2']],
      remarks: ['Formulas whose values the file does not have (Total)'],
    })
  })
})

it('Superscripts in strings that stand in their cells are kept apart', async () => {
  const book = utils.book_new(utils.aoa_to_sheet([['Fee']]), 'Dues')
  const parts: Zippable = unzipSync(write(book, { type: 'buffer' }))
  const path = 'xl/worksheets/sheet1.xml'
  const raised = '<r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r>'
  const cell = `<c r="A2" t="inlineStr"><is><r><t>45 &lt;crowns&gt;</t></r>${raised}</is></c>`
  const xml = Buffer.from(unzipSync(write(book, { type: 'buffer' }))[path] ?? []).toString()
  parts[path] = strToU8(xml.replace('</sheetData>', `<row r="2">${cell}</row></sheetData>`))
  const { text } = await extractFile(sourceFile('dues.xlsx', zipSync(parts)))
  expect(text).toContain('45 <crowns>^2')
})

it.each([
  ['shown if the program asks to calculate them', ['0', '0'], 'fullCalcOnLoad="1"', '=A2*9'],
  ['values if any other has one', ['0', '27'], 'fullCalcOnLoad="1"', '0'],
  ['values else', ['0', '0'], '', '0'],
])('Formulas with 0 for a value are %s', async (_case, values, how, shown) => {
  const book = utils.book_new(utils.aoa_to_sheet([['Qty', 'Fee'], [2], [3]]), 'Fees')
  const parts: Zippable = unzipSync(write(book, { type: 'buffer' }))
  const edit = (path: string, change: (xml: string) => string) => {
    const xml = Buffer.from(unzipSync(write(book, { type: 'buffer' }))[path] ?? []).toString()
    parts[path] = strToU8(change(xml))
  }
  const cell = (row: number) => `<c r="B${row}"><f>A${row}*9</f><v>${values[row - 2]}</v></c>`
  edit('xl/worksheets/sheet1.xml', (xml) =>
    xml
      .replace('</row><row r="3"', `${cell(2)}</row><row r="3"`)
      .replace('</row></sheetData>', `${cell(3)}</row></sheetData>`),
  )
  edit('xl/workbook.xml', (xml) => xml.replace('</workbook>', `<calcPr ${how}/></workbook>`))
  const { text } = await extractFile(sourceFile('fees.xlsx', zipSync(parts)))
  expect(text).toContain(`- Qty: 2; Fee: ${shown}\n`)
})

it('Signs above and below the line in a cell stay apart from its figures', async () => {
  const book = utils.book_new(utils.aoa_to_sheet([['Gas'], ['CO2'], ['453']]), 'Fees')
  const parts: Zippable = unzipSync(write(book, { type: 'buffer', bookSST: true }))
  const run = (text: string, script = '') => `<r><rPr>${script}</rPr><t>${text}</t></r>`
  const script = (name: string) => `<vertAlign val="${name}"/>`
  const path = 'xl/sharedStrings.xml'
  const xml = Buffer.from(unzipSync(write(book, { type: 'buffer', bookSST: true }))[path] ?? [])
  parts[path] = strToU8(
    xml
      .toString()
      .replace('<t>CO2</t>', run('CO') + run('2', script('subscript')))
      .replace('<t>453</t>', run('45') + run('3', script('superscript'))),
  )
  const { text } = await extractFile(sourceFile('fees.xlsx', zipSync(parts)))
  expect(text).toContain('- Gas: CO₂\n- Gas: 45^3\n')
})

it('Those of a sheet of OpenDocument as well', async () => {
  const book = utils.book_new(utils.aoa_to_sheet([['Fee'], ['453'], ['77']]), 'Fees')
  const parts: Zippable = unzipSync(write(book, { type: 'buffer', bookType: 'ods' }))
  const xml = Buffer.from(
    unzipSync(write(book, { type: 'buffer', bookType: 'ods' }))['content.xml'] ?? [],
  ).toString()
  const style =
    '<style:style style:name="T7" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>'
  parts['content.xml'] = strToU8(
    xml
      .replace('</office:automatic-styles>', `${style}</office:automatic-styles>`)
      .replace('>453<', '>45<text:span text:style-name="T7">3</text:span><'),
  )
  const { text } = await extractFile(sourceFile('fees.ods', zipSync(parts)))
  expect(text).toContain('- Fee: 45^3\n- Fee: 77\n')
})

it('Formulas of OpenDocument without values are shown, too', async () => {
  const book = utils.book_new(
    utils.aoa_to_sheet([
      ['Qty', 'Fee'],
      [2, 7],
      [3, 7],
    ]),
    'Fees',
  )
  const parts: Zippable = unzipSync(write(book, { type: 'buffer', bookType: 'ods' }))
  const xml = Buffer.from(
    unzipSync(write(book, { type: 'buffer', bookType: 'ods' }))['content.xml'] ?? [],
  ).toString()
  const formulas = ['of:=[.A2]*9', 'of:=SUM([.A2:.A3])&amp;&quot;!&quot;']
  parts['content.xml'] = strToU8(
    xml.replaceAll(
      /<table:table-cell[^<>]*office:value="7"[^<>]*>.*?<\/table:table-cell>/g,
      () => `<table:table-cell table:formula="${formulas.shift()}"/>`,
    ),
  )
  const { text, warnings } = await extractFile(sourceFile('fees.ods', zipSync(parts)))
  expect(text).toContain('- Qty: 2; Fee: =A2*9\n- Qty: 3; Fee: =SUM(A2:A3)&"!"\n')
  const message = expect.stringMatching(/shown as formulas: Fees\./)
  expect(warnings).toEqual([{ code: 'uncalculated_formulas', message }])
})

it('Files that are embedded in a sheet follow it', async () => {
  const book = utils.book_new(
    utils.aoa_to_sheet([
      ['Quay', 'Fee'],
      [7, 120],
    ]),
    'Quays',
  )
  const parts: Zippable = unzipSync(write(book, { type: 'buffer' }))
  parts['xl/worksheets/_rels/sheet1.xml.rels'] = strToU8(
    '<Relationships><Relationship Id="e" Type="x/package" Target="../embeddings/terms.txt"/></Relationships>',
  )
  parts['xl/embeddings/terms.txt'] = strToU8('Notice is three weeks.')
  const { text } = await extractFile(sourceFile('quays.xlsx', zipSync(parts)))
  expect(text).toMatch(/Quay: 7; Fee: 120[\s\S]*## Attachment: terms\.txt\n\nNotice is three weeks/)
})

/** A workbook with a name above, and cells as a sheet holds them. */
function withCells(...rows: string[]) {
  const book = write(utils.book_new(utils.aoa_to_sheet([['Quay', 'Fee']]), 'Quays'), {
    type: 'buffer',
  })
  const parts: Zippable = unzipSync(book)
  const path = 'xl/worksheets/sheet1.xml'
  const xml = Buffer.from(unzipSync(book)[path] ?? []).toString()
  parts[path] = strToU8(xml.replace('</sheetData>', `${rows.join('')}</sheetData>`))
  return sourceFile('quays.xlsx', zipSync(parts))
}

it.each([
  [
    'behind empty rows',
    '<row r="5"><c r="B5"><f>SUM(B1:B2)</f></c></row>',
    'Quay; Fee\n\n=SUM(B1:B2)\n',
  ],
  [
    'behind empty cells',
    '<row r="2"><c r="A2"><v>7</v></c><c r="F2"><f>1+1</f></c></row>',
    '- Quay: 7; =1+1\n',
  ],
])('A last formula without a stored value stands %s', async (_case, cells, line) => {
  const { text } = await extractFile(withCells(cells))
  expect(text).toContain(line)
})

it.each(['A0', 'A9999999', 'XFD2'])('A formula at %s is outside what is read', async (place) => {
  const cell = `<row r="2"><c r="A2"><v>7</v></c><c r="${place}"><f>1+1</f></c></row>`
  expect((await extractFile(withCells(cell))).text).not.toContain('=1+1')
})

it('A merged cell further right than its row goes leaves no holes in it', async () => {
  const sheet = utils.aoa_to_sheet([['Quay', 'Fee', 'Days', 'Season'], [7, 120, 30, 'Summer'], [8]])
  sheet['!merges'] = [utils.decode_range('D2:D3')]
  const [read] = await readWorkbook(write(utils.book_new(sheet, 'Fees'), { type: 'buffer' }))
  expect(read?.rows[2]).toStrictEqual([8, null, null, 'Summer'])
})

describe('A head', () => {
  it('has the units that stand below its names', () => {
    expect(
      linesOf([
        ['Bird', 'Weight', 'Length', 'Seen'],
        [null, 'g', '[mm]', null],
        ['Tern', 52.5, 300, 3],
      ]),
    ).toEqual(['- Bird: Tern; Weight g: 52.5; Length [mm]: 300; Seen: 3'])
  })

  it('may have three rows', () => {
    expect(
      linesOf([
        ['', 'Sold', '', '', '', 'Lost'],
        ['', '2024', '', '2025', '', '2025'],
        ['Region', 'Q1', 'Q2', 'Q1', 'Q2', 'Q1'],
        ['North', 1, 2, 3, 4, 5],
      ]),
    ).toEqual([
      '- Region: North; Sold 2024 Q1: 1; Sold 2024 Q2: 2; Sold 2025 Q1: 3; Sold 2025 Q2: 4; Lost 2025 Q1: 5',
    ])
  })

  it('is no row of values that are words', () => {
    expect(
      linesOf([
        ['Bird', 'Unit'],
        ['Tern', 'g'],
        ['Gull', 'kg'],
      ]),
    ).toEqual(['- Bird: Tern; Unit: g', '- Bird: Gull; Unit: kg'])
  })
})
