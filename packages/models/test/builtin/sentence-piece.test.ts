import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { multilingualInstalled } from '../../../../test/support/multilingual-e5.ts'
import { findPackage, MULTILINGUAL_E5 } from '../../src/builtin/models.ts'
import { createUnigramTokenizer } from '../../src/builtin/sentence-piece.ts'

describe('A vocabulary of a few pieces', () => {
  const pieces = ['▁', 'a', 'b', 'ab', '▁a', 'á', '～', 'ガ']
  const scores = [-2, -3, -3, -6, -4, -3, -3, -3]
  const lines = ['<s>', '<pad>', '</s>', '<unk>'].map((piece) => `${piece}\t0\n`)
  const known = pieces.map((piece, i) => `${piece}\t${scores[i]}\n`)
  const { tokenize } = createUnigramTokenizer([...lines, ...known].join(''))
  const piecesOf = (text: string) => tokenize(text).map((id) => pieces[id - 4] ?? '?')

  it.each([
    ['the pieces with the highest sum, not the longest', 'ab', ['▁a', 'b']],
    ['one token for unknown characters in a row', 'xyz𐎠 a', ['▁', '?', '▁a']],
    ['no token for the marks of begin and end', '<s>', ['▁', '?']],
    ['nothing for white space', ' \t\n ', []],
    ['one character for a letter and its mark', 'a\u0301', ['▁', 'á']],
    ['marks in the order of the text', 'a\u0301\u0323', ['▁', 'á', '?']],
    ['wide forms as the usual ones', 'ａ ｶﾞ', ['▁a', '▁', 'ガ']],
    ['the fullwidth tilde as it is', '～', ['▁', '～']],
    [
      'control characters dropped, invisible ones as spaces',
      'a\u0001b\u200bb',
      ['▁a', 'b', '▁', 'b'],
    ],
  ])('gives %s', (_, text, expected) => {
    expect(piecesOf(text)).toEqual(expected)
  })
})

describe.skipIf(!multilingualInstalled)(
  'The vocabulary of the package (needs packages/embedders/multilingual-e5/README.md)',
  () => {
    const vocabulary = multilingualInstalled
      ? readFileSync(`${findPackage(MULTILINGUAL_E5)}/vocabulary.tsv`, 'utf8')
      : ''
    const { tokenize } = createUnigramTokenizer(vocabulary)
    const file = new URL('../../../../test/fixtures/sentence-piece.json', import.meta.url)
    /** Made by packages/embedders/multilingual-e5/tokenizer-cases.py, with the reference; 10,000 more were equal. */
    const cases = z
      .array(z.tuple([z.string(), z.array(z.int())]))
      .parse(JSON.parse(readFileSync(file, 'utf8')))

    it.each(cases)('gives %j the numbers of the reference', (text, numbers) => {
      expect(tokenize(text)).toEqual(numbers)
    })
  },
)
