import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/support/random.ts'
import { createTopHits } from '../src/ranking.ts'

describe('The top hits', () => {
  it.each([1, 2, 7, 100, 1_000])(
    'are the best %i of all offers, lower keys first where scores are equal',
    (limit) => {
      const random = createRandom(limit)
      const offers = Array.from({ length: 500 }, (_, key) => ({ key, score: random.below(40) }))
      const hits = createTopHits(limit)
      for (const { key, score } of offers.toSorted(() => random.next() - 0.5))
        hits.offer(key, score)
      const best = offers.toSorted((a, b) => b.score - a.score || a.key - b.key).slice(0, limit)
      const { keys, scores } = hits.take()
      expect(Array.from(keys, (key, i) => ({ key, score: scores[i] }))).toEqual(best)
    },
  )

  it('have a threshold once they are full', () => {
    const hits = createTopHits(2)
    hits.offer(1, 5)
    expect(hits.threshold()).toBe(Number.NEGATIVE_INFINITY)
    hits.offer(2, 3)
    expect(hits.threshold()).toBe(3)
    hits.offer(3, 4)
    expect(hits.threshold()).toBe(4)
  })
})
