import { expect, it } from 'vitest'
import { tokensOf } from '../../../ui/activity/token-words.ts'

const TOKENS = { promptTokens: 2_400, completionTokens: 310 }

it.each([
  ['the two counts', TOKENS, '2,400 read, 310 written'],
  [
    'the parts of each',
    { ...TOKENS, cachedTokens: 1_900, cacheWriteTokens: 400, reasoningTokens: 250 },
    '2,400 read (1,900 from the cache, 400 into the cache), 310 written (250 thinking)',
  ],
  [
    'no parts of nothing',
    { ...TOKENS, cachedTokens: 0, reasoningTokens: 0 },
    '2,400 read, 310 written',
  ],
])('The tokens of a call are told with %s', (_case, tokens, words) => {
  expect(tokensOf(tokens)).toBe(words)
})
