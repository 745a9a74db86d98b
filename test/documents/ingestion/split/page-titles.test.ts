import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import { describe, expect, it } from 'vitest'
import { splitPiece, splitText } from '../../../../src/documents/ingestion/split/split-text.ts'

const SMALL = { tokens: 40, overlap: 10, least: 6, enough: 20 }
const ROWS = 'Cash and cash equivalents\nTrade receivables, net\nTotal current assets\n'.repeat(4)
const NOTE = 'See the accompanying notes.\n\n'

const headingsOf = (text: string) => splitText(text, SMALL).map(({ heading }) => heading)

function onPages(...pages: string[]): string {
  return pages.map((page) => `${page}\n\n`).join(PAGE_BREAK)
}

describe('Chunks of a page', () => {
  it('name the titles with which it begins, although they are no headings', () => {
    const balance = `CONSOLIDATED BALANCE SHEETS\n(In thousands)\n\n${ROWS}\n${NOTE}`
    const income = `ACME INCORPORATED\n\nConsolidated Statements of Income\n\n${ROWS}`
    const headings = headingsOf(onPages('# Report', balance, income))
    expect(new Set(headings)).toEqual(
      new Set([
        'Report',
        'Report > CONSOLIDATED BALANCE SHEETS',
        'Report > ACME INCORPORATED',
        'Report > ACME INCORPORATED > Consolidated Statements of Income',
      ]),
    )
    expect(headings.filter((heading) => heading.endsWith('Income')).length).toBeGreaterThan(1)
  })

  it('begin with the page if a title does', () => {
    const chunks = splitText(onPages(`${ROWS}\n${NOTE}`, `BALANCE SHEETS\n\n${ROWS}`), SMALL)
    expect(
      chunks.filter(({ text }) => text.includes('BALANCE')).map(({ text }) => text.slice(0, 9)),
    ).toEqual(['BALANCE S'])
    expect(chunks.some(({ text }) => text.trim() === NOTE.trim())).toBe(false)
  })

  it('name the nearest title below, on the page after as well if that goes on with text', () => {
    const first = `FINANCIAL STATEMENTS\n\n${ROWS}\nInterest Rate Risk\n\n${ROWS}`
    const headings = headingsOf(onPages(first, `goes on here, and has no title.\n\n${ROWS}`))
    expect(headings[0]).toBe('FINANCIAL STATEMENTS')
    expect(headings).toContain('FINANCIAL STATEMENTS > Interest Rate Risk')
    expect(headings.at(-1)).toBe('Interest Rate Risk')
  })

  it('name no title above a heading below it, and none twice', () => {
    const first = `FINANCIAL STATEMENTS\n\n${ROWS}\nInterest Rate Risk\n\n${ROWS}`
    const headings = headingsOf(onPages(first, `# Balance Sheets\n\nBalance Sheets\n\n${ROWS}`))
    expect(headings.at(-1)).toBe('Balance Sheets')
  })

  it('name a title of the page before, but not of one further away', () => {
    const headings = headingsOf(
      onPages('# Novel', 'Table of Contents', ...Array(9).fill(NOTE + ROWS)),
    )
    expect(headings.filter((heading) => heading.endsWith('Contents')).length).toBeLessThan(4)
    expect(headings.at(-1)).toBe('Novel')
  })

  it('name a title whose second line is in small letters', () => {
    const titles = [
      'CONSOLIDATED STATEMENTS OF INCOME\nfor the years 2022 and 2021',
      'Balance Sheets of Acme\nas of May 2021',
    ]
    const headings = headingsOf(
      onPages('First page.', ...titles.map((title) => `${title}\n\n${ROWS}`)),
    )
    expect(new Set(headings)).toEqual(
      new Set(['', 'CONSOLIDATED STATEMENTS OF INCOME', 'Balance Sheets of Acme']),
    )
  })

  it('begin with the page if another title stands below one that is on each', () => {
    const pages = ['Balance Sheets', 'Cash Flows'].map(
      (title) => `Acme Annual Report\nConsolidated ${title}\n\nCash 1`,
    )
    const headings = splitText(onPages(...pages), { ...SMALL, tokens: 400, enough: 200 }).map(
      ({ heading }) => heading,
    )
    expect(headings).toEqual([
      'Acme Annual Report > Consolidated Balance Sheets',
      'Acme Annual Report > Consolidated Cash Flows',
    ])
  })

  it('name the same where a piece ends on a page, or with it', () => {
    const first = onPages(`FINANCIAL STATEMENTS\n\n${ROWS}\nInterest Rate Risk\n\n${ROWS}`, NOTE)
    const rest = onPages(`${ROWS}${NOTE}`, `${ROWS}${NOTE}`)
    for (const piece of [first, first + PAGE_BREAK]) {
      const whole = headingsOf(first + PAGE_BREAK + rest)
      const { context } = splitPiece(piece, undefined, SMALL)
      const { chunks } = splitPiece(`${piece === first ? PAGE_BREAK : ''}${rest}`, context, SMALL)
      expect(chunks.at(-1)?.heading).toBe(whole.at(-1))
      expect(whole.at(-1)).toBe('')
    }
  })

  it('do not begin with the page for a title that is on each', () => {
    const texts = splitText(onPages('First page.', ...Array(4).fill(`Annual Report\n\n${NOTE}`)), {
      ...SMALL,
      tokens: 400,
      enough: 200,
    })
    expect(texts.length).toBeLessThan(4)
  })

  it('are the same when the text comes in pieces', () => {
    const page = `CONSOLIDATED BALANCE SHEETS\n\n${ROWS}`
    const { context } = splitPiece(onPages('First page.', page), undefined, SMALL)
    const { chunks } = splitPiece(ROWS, context, SMALL)
    expect(chunks[0]?.heading).toBe('CONSOLIDATED BALANCE SHEETS')
  })

  it.each([
    'All rights are Reserved by Somebody',
    'Total Current Assets $ 1,000',
    'Cash Flows, and Other Matters:',
    'ASSETS',
    'Our Chief Executive Officer and\nthe board met in May.',
    'Our Chief Executive Officer\nmet the board in May.',
    'Der Vorstand der Muster AG hat im\nGeschäftsjahr 2023 beschlossen.',
    'John Smith\nMary Jones\nPeter Brown\nPaul White\nJane Green',
    `${'Very Long '.repeat(11)}Title`,
  ])('do not take any line for a title: %s', (line) => {
    expect(new Set(headingsOf(onPages('First page.', `${line}\n\n${ROWS}`)))).toEqual(new Set(['']))
  })

  it('are the only ones: a text without pages has none', () => {
    expect(new Set(headingsOf(`CONSOLIDATED BALANCE SHEETS\n\n${ROWS}`))).toEqual(new Set(['']))
  })
})
