import { describe, expect, it } from 'vitest'
import { splitText } from '../../../../src/documents/ingestion/split/split-text.ts'

const SMALL = { tokens: 40, overlap: 10, least: 6, enough: 20 }

describe('Chunks', () => {
  it('of a table name its columns, wherever it is cut', () => {
    const head = '| name | the value |\n|------|-------|\n'
    const rows = '| some | thing. Else |\n'.repeat(20)
    const long = `| ${'some words, and more '.repeat(30)}| x |\n`
    const chunks = splitText(`# Prices\n\n${head}${rows}${long}\nAfter it.`, SMALL)
    expect(chunks.length).toBeGreaterThan(5)
    for (const { text, start, heading } of chunks) {
      const isWithin = start > head.length + 10 && !text.startsWith('After')
      expect(heading).toBe(isWithin ? 'Prices > name | the value' : 'Prices')
    }
  })

  it('of a table name no more columns than there is room for, and none where it has no head', () => {
    const names = Array.from({ length: 200 }, (_, i) => `column ${i}`)
    const wide = `|${names.join('|')}|\n|-|\n${'|1'.repeat(200)}\n`
    const headings = splitText(wide, SMALL).map(({ heading }) => heading)
    expect(Math.max(...headings.map(({ length }) => length))).toBeGreaterThan(200)
    expect(Math.max(...headings.map(({ length }) => length))).toBeLessThanOrEqual(240)
    const headless = splitText('| a | thing. Else |\n'.repeat(40), SMALL)
    expect(new Set(headless.map(({ heading }) => heading))).toEqual(new Set(['']))
  })
})
