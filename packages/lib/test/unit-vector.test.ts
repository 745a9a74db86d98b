import { toUnit } from '@agent-server/lib/unit-vector.ts'
import { describe, expect, it } from 'vitest'

describe('A unit vector', () => {
  it('has the same direction and the length 1', () => {
    expect(toUnit([3, 0, -4])).toEqual(Float32Array.of(0.6, 0, -0.8))
    expect(toUnit(Float32Array.of(1e-20, 0))).toEqual(Float32Array.of(1, 0))
  })

  it.each([
    ['nothing', []],
    ['zeros', [0, 0]],
    ['a number that is none', [1, Number.NaN]],
    ['a number beyond all', [1, Number.POSITIVE_INFINITY]],
    ['numbers whose squares are beyond all', [1e200, 1e200]],
  ])('cannot be made of %s', (_what, vector) => {
    expect(toUnit(vector)).toBeUndefined()
  })
})
