import { inverseFrequency, K1 } from '../bm25.ts'
import type { Ranking } from '../chunk-index.ts'
import type { QueryTerms } from '../term-batch.ts'
import { hiddenBut } from './hidden-but.ts'
import { type Postings, SCORING_BYTES, scoreSegment } from './score-segment.ts'
import { findTerm, normOf, type Segment } from './segment.ts'
import { createTopHits } from './top-hits.ts'

/** A term that live chunks hold. Its contribution to the score of a chunk is always below `bound`. */
interface Term {
  bound: number
  /** For each segment, the position among its terms, or -1. */
  positions: readonly number[]
}

/** Memory that all searches share. */
export const SEARCH_BYTES = SCORING_BYTES

/**
 * The best `limit` chunks by BM25: exact, as if the live chunks, and no others, had just been indexed
 * together. With `only` no others are offered.
 */
export function searchSegments(
  unordered: readonly Segment[],
  query: QueryTerms,
  limit: number,
  only?: Uint32Array,
): Ranking {
  // The largest first: what it finds spares most of the work in the others.
  const segments = unordered.toSorted((a, b) => b.live - a.live)
  const { chunks, norm } = normOf(segments)
  const terms = weighTerms(segments, query, chunks)
  const hits = createTopHits(limit)
  segments.forEach((segment, i) => {
    const offered = only ? { ...segment, removed: hiddenBut(segment, only) } : segment
    scoreSegment(offered, postingsIn(segment, i, terms), norm, hits)
  })
  return hits.take()
}

/** The heaviest first: the light ones, which most chunks hold, then need only be looked up. */
function weighTerms(segments: readonly Segment[], query: QueryTerms, chunks: number): Term[] {
  const terms: Term[] = []
  query.terms.forEach((term, i) => {
    const positions = segments.map((segment) => findTerm(segment, term))
    const holding = segments.reduce(
      (sum, segment, s) => sum + countLive(segment, positions[s] ?? -1),
      0,
    )
    if (holding === 0) return
    const bound = (query.counts[i] ?? 0) * inverseFrequency(chunks, holding) * (K1 + 1)
    terms.push({ bound, positions })
  })
  return terms.sort((a, b) => b.bound - a.bound)
}

function countLive({ offsets, ordinals, removed }: Segment, position: number): number {
  if (position < 0) return 0
  const from = offsets[position] ?? 0
  const to = offsets[position + 1] ?? 0
  if (!removed) return to - from
  let live = 0
  for (let i = from; i < to; i++) live += 1 - (removed[ordinals[i] ?? 0] ?? 0)
  return live
}

function postingsIn({ offsets }: Segment, segment: number, terms: readonly Term[]): Postings[] {
  const lists: Postings[] = []
  for (const { bound, positions } of terms) {
    const position = positions[segment] ?? -1
    if (position < 0) continue
    lists.push({ from: offsets[position] ?? 0, to: offsets[position + 1] ?? 0, bound })
  }
  return lists
}
