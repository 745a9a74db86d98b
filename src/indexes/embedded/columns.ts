import type { HybridMatch, IndexMatch, Ranking } from '../chunk-index.ts'

/** A hybrid ranking as it crosses threads; what a stage says nothing of is NaN. */
export interface HybridColumns extends Ranking {
  lexical: Float64Array<ArrayBuffer>
  dense: Float64Array<ArrayBuffer>
}

export function toMatches({ keys, scores }: Ranking): IndexMatch[] {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] ?? 0 }))
}

export function toColumns(matches: readonly HybridMatch[]): HybridColumns {
  return {
    keys: Uint32Array.from(matches, ({ key }) => key),
    scores: Float64Array.from(matches, ({ score }) => score),
    lexical: Float64Array.from(matches, ({ lexical }) => lexical ?? Number.NaN),
    dense: Float64Array.from(matches, ({ dense }) => dense ?? Number.NaN),
  }
}

export function toHybridMatches({ lexical, dense, ...ranking }: HybridColumns): HybridMatch[] {
  return toMatches(ranking).map((match, i) => ({
    ...match,
    ...(!Number.isNaN(lexical[i]) && { lexical: lexical[i] ?? 0 }),
    ...(!Number.isNaN(dense[i]) && { dense: dense[i] ?? 0 }),
  }))
}
