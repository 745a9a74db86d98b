import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { isSignificant } from '../src/paired-test.ts'

/** Repeatable numbers from 0 to 1. */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

describe('isSignificant', () => {
  it('takes six differences of one sign at least', () => {
    expect(isSignificant([1, 1, 1, 1, 1])).toBe(false)
    expect(isSignificant([1, 1, 1, 1, 1, 1])).toBe(true)
    expect(isSignificant([-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, 0, 0, 0])).toBe(true)
  })

  it.each([{ differences: [] }, { differences: [0, 0, 0] }, { differences: [1, -1, 0.5, -0.5] }])(
    'finds nothing in $differences',
    ({ differences }) => {
      expect(isSignificant(differences)).toBe(false)
    },
  )

  it('sees a small shift in many questions', () => {
    const random = createRandom(1)
    const noise = Array.from({ length: 400 }, () => random() - 0.5)
    expect(isSignificant(noise.map((difference) => difference + 0.1))).toBe(true)
  })

  it.each([8, 12, 13, 100])(
    'calls chance more than chance in 5 %% of tests of %i',
    onlyLong,
    (count) => {
      const random = createRandom(count)
      const tests = Array.from({ length: 2_000 }, () =>
        isSignificant(Array.from({ length: count }, () => random() - 0.5)),
      )
      const share = tests.filter(Boolean).length / tests.length
      expect(share).toBeGreaterThan(0.03)
      expect(share).toBeLessThan(0.07)
    },
  )
})
