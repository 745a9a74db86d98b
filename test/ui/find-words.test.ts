import { describe, expect, it } from 'vitest'
import { findWords } from '../../ui/reader/find-words.ts'

/** What is found, as it stands on the page. */
const found = (pieces: readonly string[], ...texts: string[]) =>
  findWords(pieces, texts).map(({ piece, start, end }) => pieces[piece]?.slice(start, end))

describe('Words on a page', () => {
  it('are found over pieces, hyphens and spaces, with the punctuation that follows', () => {
    const pieces = [
      'It closes. On Saturdays the depart-',
      'ment',
      ' ',
      ' of maps  opens. Then',
      'it closes.',
    ]
    expect(found(pieces, 'On Saturdays the department of maps opens.')).toEqual([
      'On Saturdays the depart-',
      'ment',
      'of maps  opens.',
    ])
  })

  it('are found although the page shows no heading marks', () => {
    expect(found(['Opening hours'], '## Opening hours')).toEqual(['Opening hours'])
  })

  it('are found in other scripts, beyond the basic plane too', () => {
    expect(found(['図書館は', '土曜日に開く。'], '図書館は土曜日に開く。')).toEqual([
      '図書館は',
      '土曜日に開く。',
    ])
    expect(found(['x 𝒜𝒷𝒸𝒹 y'], '𝒜𝒷𝒸𝒹')).toEqual(['𝒜𝒷𝒸𝒹'])
  })

  it('are taken in the order of the page where they are there twice', () => {
    const pieces = ['Fees apply.', 'Hours follow.', 'Fees apply.']
    expect(findWords(pieces, ['Hours follow.', 'Fees apply.'])).toMatchObject([
      { piece: 1 },
      { piece: 2 },
    ])
    expect(findWords(pieces, ['Fees apply.'])).toMatchObject([{ piece: 0 }])
  })

  it('are in order and apart, whatever the order of the texts', () => {
    const pieces = ['One sentence. Another one. A third.']
    const texts = ['Another one.', 'Another one.', 'One sentence. Another', 'sentence.']
    expect(found(pieces, ...texts)).toEqual(['One sentence. Another one.'])
    expect(found(pieces, 'A third.', 'One sentence.')).toEqual(['One sentence.', 'A third.'])
  })

  it('are left out if they are missing or too few to locate', () => {
    expect(found(['On Saturdays it opens.'], 'On Sundays it opens.', 'it', '…')).toEqual([])
    expect(found([], 'On Sundays it opens.')).toEqual([])
  })

  it('cost no more than a pass over the page', () => {
    const pieces = Array.from({ length: 20_000 }, (_, n) => `word${n} `)
    expect(found(pieces, 'word19998 word19999')).toEqual(['word19998', 'word19999'])
  })
})
