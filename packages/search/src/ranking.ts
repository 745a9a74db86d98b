import type { IndexMatch } from './chunk-index.ts'

/** Matches in columns, best first. */
export interface Ranking {
  keys: Uint32Array<ArrayBuffer>
  scores: Float64Array<ArrayBuffer>
}

export type TopHits = ReturnType<typeof createTopHits>

/** Keeps the best hits offered, sorted: higher scores first, of equal scores the lower key. */
export function createTopHits(limit: number) {
  const keys = new Uint32Array(limit)
  const scores = new Float64Array(limit)
  let size = 0

  /** Whether this score and key rank after the hit at `place`. */
  const isWorse = (key: number, score: number, place: number) => {
    const difference = score - (scores[place] ?? 0)
    return difference < 0 || (difference === 0 && key > (keys[place] ?? 0))
  }
  const insert = (key: number, score: number) => {
    let place = 0
    for (let end = size - 1; place < end; ) {
      const middle = (place + end) >>> 1
      if (isWorse(key, score, middle)) place = middle + 1
      else end = middle
    }
    keys.copyWithin(place + 1, place, size)
    scores.copyWithin(place + 1, place, size)
    keys[place] = key
    scores[place] = score
  }

  return {
    limit,
    offer(key: number, score: number): void {
      if (size < limit) size++
      else if (isWorse(key, score, limit - 1)) return
      insert(key, score)
    },
    /** The score below which offers are rejected; -Infinity until there are `limit` hits. */
    threshold: () => (size < limit ? Number.NEGATIVE_INFINITY : (scores[limit - 1] ?? 0)),
    /** All hits, best first. */
    take: (): Ranking => ({ keys: keys.slice(0, size), scores: scores.slice(0, size) }),
  }
}

/** Best first; equal scores in ascending key order. */
export function byScore(a: IndexMatch, b: IndexMatch): number {
  return b.score - a.score || a.key - b.key
}

/** The matches of a ranking, in its order. */
export function toMatches({ keys, scores }: Ranking): IndexMatch[] {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] ?? 0 }))
}

export function toRanking(matches: readonly IndexMatch[]): Ranking {
  const keys = new Uint32Array(matches.length)
  const scores = new Float64Array(matches.length)
  matches.forEach(({ key, score }, place) => {
    keys[place] = key
    scores[place] = score
  })
  return { keys, scores }
}
