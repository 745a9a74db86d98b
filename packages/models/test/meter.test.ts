import { expect, it } from 'vitest'
import { usageOf } from '../src/meter.ts'

it.each([
  [12.5, 13],
  [-5, 0],
  [1e300, 100_000_000],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, 100_000_000],
])('A count of %d tokens that a server reports counts as %d', (reported, count) => {
  const usage = { promptTokens: reported, completionTokens: reported, cachedTokens: reported }
  expect(usageOf({ usage, sentBytes: 0, receivedBytes: 0 })).toMatchObject({
    promptTokens: count,
    completionTokens: count,
    cachedTokens: count,
  })
})
