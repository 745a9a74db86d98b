import { expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { rememberTerms } from '../../src/analyser/vocabulary.ts'

/** Terms that tell the word, and how often they were worked out. */
function createForTest() {
  const made: string[] = []
  const remembered = rememberTerms((word) => {
    made.push(word)
    return Array.from(word, (character) => character.charCodeAt(0))
  })
  const termsOf = (word: string) => {
    const text = `<${word}>`
    return String.fromCharCode(...remembered(text, 1, text.length - 1))
  }
  return { made, termsOf }
}

it('finds a word wherever it stands, worked out once', () => {
  const { made, termsOf } = createForTest()
  for (const word of ['wing', 'win', 'wings', 'wing', 'gniw', 'win']) {
    expect(termsOf(word)).toBe(word)
  }
  expect(made).toEqual(['wing', 'win', 'wings', 'gniw'])
})

it('tells seventy thousand words apart, across both of its generations', onlyLong, () => {
  const { termsOf } = createForTest()
  const words = Array.from({ length: 70_000 }, (_, i) => `w${i}`)
  expect(words.filter((word) => termsOf(word) !== word)).toEqual([])
  expect(words.filter((word) => termsOf(word) !== word)).toEqual([])
})

it('forgets words that were not met for long', onlyLong, () => {
  const { made, termsOf } = createForTest()
  termsOf('rare')
  for (let i = 0; i < 135_000; i++) termsOf(`w${i}`)
  termsOf('rare')
  expect(made.filter((word) => word === 'rare')).toHaveLength(2)
})
