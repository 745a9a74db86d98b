import { describe, expect, it } from 'vitest'
import { excerptAround, sentenceFor } from '../../ui/search/hit-sentence.ts'

const PASSAGE = `# Loans

The library lends books. The library lends films, too. A lost card costs 4 euros and is replaced at the desk.

| Item | Fee |
| --- | ---: |
| Card | 4 |
| Book | its price |`

const found = (query: string, text = PASSAGE) => {
  const span = sentenceFor(query, text)
  return span && text.slice(span.start, span.end)
}

describe('The sentence of a hit', () => {
  it.each([
    ['What does a lost card cost?', 'A lost card costs 4 euros and is replaced at the desk.'],
    ['library films', 'The library lends films, too.'],
    ['the price of a book', '| Book | its price |'],
    ['LOANS', '# Loans'],
    ['quaggas', undefined],
    ['', undefined],
  ])('for %j is the one with most of its words', (query, sentence) => {
    expect(found(query)).toBe(sentence)
  })

  it('is found in other scripts, too', () => {
    expect(found('πότε ανοίγει', 'Καλημέρα. Η βιβλιοθήκη ανοίγει στις εννέα.')).toBe(
      'Η βιβλιοθήκη ανοίγει στις εννέα.',
    )
    expect(found('图书馆几点', '今天天气很好。图书馆九点开门。')).toBe('图书馆九点开门。')
  })

  it('stands in an excerpt that begins with its paragraph, without blank lines', () => {
    const text = `${'The library lends books. '.repeat(20)}\n\nA card costs nothing. A lost card costs 4 euros.`
    const span = sentenceFor('lost card', text)
    if (!span) throw new Error('No sentence')
    expect(excerptAround(text, span).text).toMatch(/^A card costs nothing\. A lost/)
  })

  it('is in the excerpt, wherever it stands in a long passage', () => {
    for (const before of [0, 1, 40, 400]) {
      const text = `${'The library lends books to people. '.repeat(before)}A lost card costs 4 euros.${' More.'.repeat(300)}`
      const span = sentenceFor('lost card', text)
      if (!span) throw new Error('No sentence')
      const { text: shown, mark } = excerptAround(text, span)
      expect(shown.slice(mark.start, mark.end)).toBe('A lost card costs 4 euros.')
      expect(shown.length).toBeLessThan(1_000)
    }
  })
})
