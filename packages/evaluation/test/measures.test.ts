import { describe, expect, it } from 'vitest'
import { mean, measure, percentile } from '../src/measures.ts'

const relevant = new Map([
  ['a', 1],
  ['b', 3],
])

describe('measures at ten', () => {
  it('are 1 for a perfect ranking', () => {
    const judgement = { relevant, graded: false }
    expect(measure(['b', 'a', 'x'], judgement)).toEqual({ ndcg: 1, recall: 1, mrr: 1 })
  })

  it('discount by the logarithm of the rank', () => {
    const { ndcg, mrr, recall } = measure(['x', 'a'], { relevant, graded: false })
    expect(ndcg).toBeCloseTo(1 / Math.log2(3) / (1 + 1 / Math.log2(3)))
    expect([mrr, recall]).toEqual([0.5, 0.5])
  })

  it('distinguish grades only if requested', () => {
    const worse = ['a', 'b']
    expect(measure(worse, { relevant, graded: false }).ndcg).toBe(1)
    expect(measure(worse, { relevant, graded: true }).ndcg).toBeLessThan(1)
  })

  it('count nothing beyond the tenth result', () => {
    const ranking = [...Array.from({ length: 10 }, (_, index) => `x${index}`), 'a', 'b']
    expect(measure(ranking, { relevant, graded: false })).toEqual({ ndcg: 0, recall: 0, mrr: 0 })
  })
})

it('takes the mean and the percentile of numbers in any order', () => {
  expect(mean([1, 2, 6])).toBe(3)
  expect(percentile([3, 1, 2], 0.5)).toBe(2)
  expect(percentile([3, 1, 2], 0.95)).toBe(3)
})
