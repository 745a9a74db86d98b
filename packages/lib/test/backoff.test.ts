import { backoffMs, retryAfterOf } from '@agent-server/lib/backoff.ts'
import { expect, it } from 'vitest'

it('waits longer after each failure, up to a bound, and half of it at random', () => {
  const backoff = { firstMs: 100, maxMs: 1_000 }
  const waits = (random: number) => [1, 2, 3, 9].map((n) => backoffMs(n, backoff, () => random))
  expect(waits(1)).toEqual([100, 200, 400, 1_000])
  expect(waits(0)).toEqual([50, 100, 200, 500])
  expect(backoffMs(3, { ...backoff, factor: 3 }, () => 1)).toBe(900)
})

it('reads the delay that a server requests', () => {
  const asked = (name: string, value: string) => retryAfterOf(new Headers({ [name]: value }))
  expect(asked('retry-after-ms', '1500')).toBe(1_500)
  expect(asked('retry-after', '2')).toBe(2_000)
  expect(asked('retry-after', 'Thu, 01 Jan 1970 00:00:00 GMT')).toBe(0)
  expect(asked('retry-after', 'soon')).toBeUndefined()
})
