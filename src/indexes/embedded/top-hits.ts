import type { Ranking } from '../chunk-index.ts'

export type TopHits = ReturnType<typeof createTopHits>

/**
 * Keeps the best of what it is offered: higher scores first, of equal scores the lower key. A binary heap of at
 * most `limit` hits with the worst on top.
 */
export function createTopHits(limit: number) {
  const keys: number[] = []
  const scores: number[] = []

  const isWorse = (a: number, b: number) => {
    const difference = (scores[a] ?? 0) - (scores[b] ?? 0)
    return difference < 0 || (difference === 0 && (keys[a] ?? 0) > (keys[b] ?? 0))
  }
  const put = (position: number, key: number, score: number) => {
    keys[position] = key
    scores[position] = score
  }
  const swap = (a: number, b: number) => {
    const key = keys[a] ?? 0
    const score = scores[a] ?? 0
    put(a, keys[b] ?? 0, scores[b] ?? 0)
    put(b, key, score)
  }
  const rise = (from: number) => {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!isWorse(child, parent)) return
      swap(child, parent)
      child = parent
    }
  }
  const sink = () => {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      if (left >= keys.length) return
      const child = left + 1 < keys.length && isWorse(left + 1, left) ? left + 1 : left
      if (!isWorse(child, parent)) return
      swap(child, parent)
      parent = child
    }
  }
  const dropWorst = () => {
    swap(0, keys.length - 1)
    keys.pop()
    scores.pop()
    sink()
  }

  return {
    limit,
    offer(key: number, score: number): void {
      if (keys.length < limit) {
        put(keys.length, key, score)
        rise(keys.length - 1)
        return
      }
      const worst = scores[0] ?? 0
      if (score < worst || (score === worst && key > (keys[0] ?? 0))) return
      put(0, key, score)
      sink()
    },
    /** The score below which no offer is taken; -Infinity until there are enough. */
    threshold: () => (keys.length < limit ? Number.NEGATIVE_INFINITY : (scores[0] ?? 0)),
    /** Empties it. */
    take(): Ranking {
      const ranking = {
        keys: new Uint32Array(keys.length),
        scores: new Float64Array(keys.length),
      }
      while (keys.length > 0) {
        const place = keys.length - 1
        ranking.keys[place] = keys[0] ?? 0
        ranking.scores[place] = scores[0] ?? 0
        dropWorst()
      }
      return ranking
    },
  }
}
