import { describe, expect, it } from 'vitest'
import { createAnalyser } from '../../src/analyser/analyser.ts'

const analyser = createAnalyser('english')

/** The share of the query's terms that a text has. */
function found(query: string, text: string): number {
  const { terms } = analyser.query(query)
  const indexed = new Set(analyser.batch([{ heading: '', text }]).terms)
  return [...terms].filter((term) => indexed.has(term)).length / terms.length
}

describe('A code', () => {
  it.each([
    ['ppr9087', 'See form PPR-9087 for this.'],
    ['PPR9087', 'See form PPR_9087 for this.'],
    ['ppr9087', 'See form PPR 9087 for this.'],
    ['PPR-9087', 'See form ppr9087 for this.'],
    ['PPR 9087', 'See form PPR9087 for this.'],
    ['inv20240017', 'Invoice INV-2024-0017 is paid.'],
    ['din4109', 'by DIN\u20114109'],
    ['rev3b', 'REV.3b'],
    ['ab12cd', 'part AB/12/CD'],
  ])('%s is found in “%s”, whatever stands between its parts', (query, text) => {
    expect(found(query, text)).toBe(1)
  })

  it.each([
    ['in2019', 'In 2019.'.replace('2019', '20')],
    ['table3', 'See table 3.'],
    ['ppr9087', 'PPR, 9087'],
    ['ppr9087', 'PPR - 9087'],
    ['january2019', 'In January 2019'],
  ])('is no %s in “%s”', (query, text) => {
    expect(found(query, text)).toBe(0)
  })

  it('does not make a text longer than its words', () => {
    const lengthOf = (text: string) => analyser.batch([{ heading: '', text }]).lengths[0]
    expect(lengthOf('form PPR-9087')).toBe(lengthOf('form PPR, 9087'))
  })
})
