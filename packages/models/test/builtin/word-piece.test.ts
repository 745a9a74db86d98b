import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createTokenizer } from '../../src/builtin/word-piece.ts'

const vocabulary = createRequire(import.meta.url).resolve('agent-server-minilm/vocab.txt')
const tokenizer = createTokenizer(readFileSync(vocabulary, 'utf8').trimEnd().split('\n'))

/** Made by packages/embedders/minilm/tokenizer-cases.py, with the reference; 20,000 more were equal. */
const cases = z
  .array(z.tuple([z.string(), z.array(z.int())]))
  .parse(
    JSON.parse(
      readFileSync(new URL('../../../../test/fixtures/word-piece.json', import.meta.url), 'utf8'),
    ),
  )

it.each(cases)('gives %j the numbers of the reference', (text, numbers) => {
  expect(tokenizer.tokenize(text)).toEqual(numbers)
})

it('needs the marks of the model among its tokens', () => {
  expect(() => createTokenizer(['a'])).toThrow(/lacks \[UNK\]/)
})
