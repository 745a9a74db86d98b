import type { HybridMatch, IndexMatch, Ranking } from './chunk-index.ts'

export type TopHits = ReturnType<typeof createTopHits>

/**
 * Keeps the best hits offered: higher scores first, of equal scores the lower key. A binary heap of at most `limit`
 * hits with the worst on top.
 */
export function createTopHits(limit: number) {
  const keys: number[] = []
  const scores: number[] = []

  /** Whether this score and key rank after the hit at `position`. */
  const isWorse = (score: number, key: number, position: number) => {
    const difference = score - (scores[position] ?? 0)
    return difference < 0 || (difference === 0 && key > (keys[position] ?? 0))
  }
  const move = (from: number, to: number) => {
    keys[to] = keys[from] ?? 0
    scores[to] = scores[from] ?? 0
  }
  const put = (position: number, key: number, score: number) => {
    keys[position] = key
    scores[position] = score
  }
  const add = (key: number, score: number) => {
    let place = keys.length
    for (; place > 0; ) {
      const parent = (place - 1) >> 1
      if (!isWorse(score, key, parent)) break
      move(parent, place)
      place = parent
    }
    put(place, key, score)
  }
  /** Replaces the worst hit. */
  const replaceWorst = (key: number, score: number) => {
    const { length } = keys
    let place = 0
    for (let child = 1; child < length; child = 2 * place + 1) {
      const right = child + 1
      if (right < length && isWorse(scores[right] ?? 0, keys[right] ?? 0, child)) child = right
      if (isWorse(score, key, child)) break
      move(child, place)
      place = child
    }
    put(place, key, score)
  }
  const dropWorst = () => {
    const key = keys.pop() ?? 0
    const score = scores.pop() ?? 0
    if (keys.length > 0) replaceWorst(key, score)
  }

  return {
    limit,
    offer(key: number, score: number): void {
      if (keys.length < limit) {
        add(key, score)
        return
      }
      const worst = scores[0] ?? 0
      if (score < worst || (score === worst && key > (keys[0] ?? 0))) return
      replaceWorst(key, score)
    },
    /** The score below which offers are rejected; -Infinity until there are `limit` hits. */
    threshold: () => (keys.length < limit ? Number.NEGATIVE_INFINITY : (scores[0] ?? 0)),
    /** Removes all hits and returns them, best first. */
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

/** Best first; equal scores in ascending key order. */
export function byScore(a: IndexMatch, b: IndexMatch): number {
  return b.score - a.score || a.key - b.key
}

/** A hybrid ranking in the form in which it crosses threads; a missing score of a stage is NaN. */
interface HybridColumns extends Ranking {
  lexical: Float64Array<ArrayBuffer>
  dense: Float64Array<ArrayBuffer>
}

/** The matches of a ranking, in its order. */
export function toMatches({ keys, scores }: Ranking): IndexMatch[] {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] ?? 0 }))
}

export function toHybridColumns(matches: readonly HybridMatch[]): HybridColumns {
  const size = matches.length
  const keys = new Uint32Array(size)
  const [scores, lexical, dense] = [
    new Float64Array(size),
    new Float64Array(size),
    new Float64Array(size),
  ]
  matches.forEach((match, i) => {
    keys[i] = match.key
    scores[i] = match.score
    lexical[i] = match.lexical ?? Number.NaN
    dense[i] = match.dense ?? Number.NaN
  })
  return { keys, scores, lexical, dense }
}

export function toHybridMatches({ keys, scores, ...stages }: HybridColumns): HybridMatch[] {
  return Array.from(keys, (key, i) => {
    const match: HybridMatch = { key, score: scores[i] ?? 0 }
    const lexical = stages.lexical[i] ?? Number.NaN
    const dense = stages.dense[i] ?? Number.NaN
    if (!Number.isNaN(lexical)) match.lexical = lexical
    if (!Number.isNaN(dense)) match.dense = dense
    return match
  })
}
