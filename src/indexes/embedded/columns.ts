import type { HybridMatch, IndexMatch, Ranking } from '../chunk-index.ts'

/** A hybrid ranking as it crosses threads; what a stage says nothing of is NaN. */
interface HybridColumns extends Ranking {
  lexical: Float64Array<ArrayBuffer>
  dense: Float64Array<ArrayBuffer>
}

export function toMatches({ keys, scores }: Ranking): IndexMatch[] {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] ?? 0 }))
}

export function toColumns(matches: readonly HybridMatch[]): HybridColumns {
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
