import { describe, expect, it } from 'vitest'
import { segmentSentences } from '../../src/text/sentences.ts'

const cut = (text: string) => segmentSentences(text).map((sentence) => sentence.trim())

describe('A paragraph', () => {
  it('is cut after each sentence, and nothing of it is lost', () => {
    const text = 'The owl hunts at night. By day it sleeps!  Does it? It does.'
    expect(cut(text)).toEqual([
      'The owl hunts at night.',
      'By day it sleeps!',
      'Does it?',
      'It does.',
    ])
    expect(segmentSentences(text).join('')).toBe(text)
    expect(segmentSentences('')).toEqual([])
  })

  it.each([
    ['an abbreviation', 'It is by Dr. Smith. He is old.', 2],
    ['the day of a German date', 'Die Frist endet am 31. März 2026. Danach nicht mehr.', 2],
    ['a day without an article', 'Anträge bis 15. November. Später nicht.', 2],
    ['an ordinal', 'Sie wohnt im 2. Stock. Das 19. Jahrhundert war lang.', 2],
  ])('goes on behind %s', (_case, text, sentences) => {
    expect(cut(text)).toHaveLength(sentences)
  })

  it.each([
    ['a year', 'Der Vertrag ist von 1990. Er gilt noch.'],
    ['an age', 'Eintritt ab 18. Kinder kommen nicht hinein.'],
    ['an hour', 'Geöffnet von 8 bis 20. Sonntags ist zu.'],
    ['a number', 'The result is 12. May it last.'],
  ])('ends behind %s', (_case, text) => {
    expect(cut(text)).toHaveLength(2)
  })
})
