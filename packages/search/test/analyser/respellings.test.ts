import { describe, expect, it } from 'vitest'
import { createAnalyser } from '../../src/analyser/analyser.ts'
import type { AnalyserLanguage } from '../../src/analyser/languages.ts'

const respell = (word: string, language: AnalyserLanguage = 'english') =>
  Array.from(createAnalyser(language).respellings(word))

describe('Respellings', () => {
  it.each([
    ['a missing letter', 'pasword', 'password'],
    ['a missing first letter', 'assword', 'password'],
    ['a missing last letter', 'passwor', 'password'],
    ['a letter too many', 'passwoord', 'password'],
    ['a wrong letter', 'passwird', 'password'],
    ['two letters exchanged', 'pasworsd', 'paswosrd'],
    ['two last letters exchanged', 'passwodr', 'password'],
    ['a capital', 'Passwrd', 'password'],
  ])('have the word for %s, with its term', (_error, typed, meant) => {
    const [term] = createAnalyser('english').query(meant).terms
    expect(respell(typed)).toContainEqual({ word: meant, term })
  })

  it('leave out the word itself and each word twice', () => {
    const words = respell('letter').map(({ word }) => word)
    expect(words).not.toContain('letter')
    expect(new Set(words).size).toBe(words.length)
  })

  it.each([
    ['german', 'Kundigung', 'kündigung'],
    ['french', 'echeance', 'écheance'],
    ['russian', 'билт', 'билет'],
    ['swedish', 'angtag', 'ångtag'],
  ] as const)('have the letters of %s', (language, typed, meant) => {
    expect(respell(typed, language).map(({ word }) => word)).toContain(meant)
  })

  it.each(['wich', 'thier', 'shuld'])('are none for “%s”, which may be a stop word', (typed) => {
    expect(respell(typed)).toEqual([])
  })
})
