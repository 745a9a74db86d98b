import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../../src/lib/backoff.ts'
import { RETRY } from '../../../src/services/ingestion/retry-policy.ts'

const backoff = { firstMs: 1_000, maxMs: 300_000, factor: 4 }

describe('the wait before another attempt', () => {
  it('is four times as long each time, up to the longest', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(attempt, backoff, () => 1))
    expect(waits).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, 300_000])
  })

  it('is between half and all of that, by chance', () => {
    expect(backoffMs(2, backoff, () => 0)).toBe(2_000)
    expect(backoffMs(2, backoff, () => 0.5)).toBe(3_000)
  })

  it('outlasts a minute of outage over all attempts', () => {
    const waits = Array.from({ length: RETRY.attempts - 1 }, (_, failures) =>
      backoffMs(failures + 1, RETRY.backoff, () => 0.5),
    )
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(60_000)
  })
})
