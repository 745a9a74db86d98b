import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { extractCsv } from '../../src/formats/csv.ts'

const linesOf = (text: string, isCut = false) => extractCsv(text, isCut).text.trimEnd().split('\n')

const BIRDS = ['- bird: tern; pairs: 52', '- bird: gull; pairs: 7']

describe('The separator of a table is found', () => {
  it.each([
    ['a comma', 'bird,pairs\ntern,52\ngull,7'],
    ['a semicolon', 'bird;pairs\ntern;52\ngull;7'],
    ['a tab', 'bird\tpairs\ntern\t52\ngull\t7'],
    ['a bar', 'bird|pairs\ntern|52\ngull|7'],
  ])('%s', (_name, text) => expect(linesOf(text)).toEqual(BIRDS))

  it('though another stands within the values', () => {
    const text = 'bird;note\ntern;"small, grey, loud"\ngull;"big, white"'
    expect(linesOf(text)).toEqual([
      '- bird: tern; note: small, grey, loud',
      '- bird: gull; note: big, white',
    ])
  })

  it('though numbers are written with a comma', () => {
    expect(linesOf('bird;weight\ntern;0,12\ngull;1,01')).toEqual([
      '- bird: tern; weight: 0,12',
      '- bird: gull; weight: 1,01',
    ])
  })

  it('though its head is years behind an empty corner', () => {
    expect(linesOf(',2024,2025\nNorth,1,2\nSouth,3,4')).toEqual([
      '- North; 2024: 1; 2025: 2',
      '- South; 2024: 3; 2025: 4',
    ])
    expect(linesOf(',2024,2025\n7,1,2\n8,3,4')[0]).toBe('- 2024; 2025')
  })

  it('not to be, where there is one column', () => {
    expect(linesOf('bird\ntern\ngull')).toEqual(['- bird: tern', '- bird: gull'])
  })
})

describe('The separator is found with quotation marks paired first:', () => {
  it.each([
    ['line breaks in quotes', 'bird,note\ntern,"a; b;\nc; d; e"\ngull,"f;\ng"'],
    ['a blank before a quote', 'bird, note\ntern, "a; b;\nc; d; e"\ngull, "f;\ng"'],
    ['semicolons around commas', 'bird;note\ntern;"a; b;\nc; d; e"\ngull;"f;\ng"'],
    ['apostrophes as quotes', "bird,note\ntern,'a; b;\nc; d; e'\ngull,'f;\ng'"],
    ['a first line that says it', 'sep=;\nbird;note\ntern;"a; b;\nc; d; e"\ngull;"f;\ng"'],
  ])('%s', (_name, text) => {
    expect(linesOf(text)).toEqual(['- bird: tern; note: a; b; c; d; e', '- bird: gull; note: f; g'])
  })

  it('backslashes before quotes', () => {
    expect(linesOf('id,note\n1,"says \\"kirr, kirr\\""\n2,"a, b"')).toEqual([
      '- id: 1; note: says "kirr, kirr"',
      '- id: 2; note: a, b',
    ])
  })

  it('the name of a file with tabs', () => {
    const text = 'bird\tsize, weight\ntern, big\t5,1\ngull, small\t6,2'
    expect(extractCsv(text, false, 'birds.TSV').text).toBe(
      '- bird: tern, big; size, weight: 5,1\n- bird: gull, small; size, weight: 6,2\n',
    )
  })

  it('numbers with decimal commas, without a head', () => {
    expect(linesOf('1,5;2,5\n3,5;4,5')).toEqual(['- 1,5; 2,5', '- 3,5; 4,5'])
  })

  it('a quotation mark that is never closed does not swallow the rows up to another', () => {
    expect(linesOf('a,b\n"open,1\nx,"2"')).toEqual(['- a: "open; b: 1', '- a: x; b: 2'])
  })
})

it('A warning says that another separator is as likely, or that quotation marks are astray', () => {
  expect(extractCsv('x,y;z\na,b;c\nd,e;f', false).warnings).toEqual([
    {
      code: 'uncertain_columns',
      message:
        'The columns of this file are uncertain: its values are divided at semicolons, though commas would divide them as evenly',
    },
  ])
  const [astray] = extractCsv('a,b\n"x,"y,1\nz,2\n', false).warnings ?? []
  expect(astray?.message).toMatch(/quotation marks are not closed/)
  expect(extractCsv('a,b\n"x, y",1\nz,2\n', false).warnings).toBeUndefined()
})

it('Many quotation marks take time in proportion to them', onlyLong, () => {
  for (const shape of ['"a,', '"', '" ', '"\n', '\\"', "'", ',"a"b', ' ,', '"\t', '"a"\n']) {
    const [once = 0, twice = 0] = [100_000, 200_000].map((bytes) => {
      const text = shape.repeat(bytes / shape.length)
      const start = processorMs()
      extractCsv(text, false)
      return processorMs() - start
    })
    expect(twice, shape).toBeLessThan(once * 2.6 + 100)
  }
})

describe('A table is read', () => {
  it('with quoted values, lines within them, and doubled quotation marks', () => {
    const text = 'bird,note\ntern,"says ""kirr"",\nand dives"'
    expect(linesOf(text)).toEqual(['- bird: tern; note: says "kirr", and dives'])
  })

  it('though a quotation mark is never closed', () => {
    expect(linesOf('bird,size\ntern,"10\ngull,20')).toEqual([
      '- bird: tern; size: "10',
      '- bird: gull; size: 20',
    ])
  })

  it('though a quotation mark stands within a value', () => {
    expect(linesOf('item,size\ntube,10" long\nrod,2')).toEqual([
      '- item: tube; size: 10" long',
      '- item: rod; size: 2',
    ])
  })

  it('though its rows differ in length, or are empty', () => {
    expect(linesOf('a,b\n1\n\n2,3,4\n')).toEqual(['- a: 1', '- a: 2; b: 3; 4'])
  })

  it('without the row that the cut goes through', () => {
    const lines = linesOf('bird,pairs\ntern,52\ngull,7', true)
    expect(lines[0]).toBe('- bird: tern; pairs: 52')
    expect(lines.at(-1)).toMatch(/^\(The first 1 rows/)
    expect(lines.join()).not.toContain('gull')
  })

  it('up to a hundred thousand rows', () => {
    const { text } = extractCsv(`n\n${'1\n'.repeat(100_002)}`, false)
    expect(text).toMatch(/\(The first 99999 rows; the whole table is in the file\.\)/)
  })

  it('where it is empty', () => expect(extractCsv('', false).text).toBe(''))
})
