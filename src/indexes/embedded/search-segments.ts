import { inverseFrequency, K1, lengthNorm } from '../bm25.ts'
import type { Feedback } from '../chunk-index.ts'
import { expandQuery } from '../expand-query.ts'
import type { QueryTerms } from '../term-batch.ts'
import { hiddenBut } from './hidden-but.ts'
import { type Postings, SCORING_BYTES, scoreSegment } from './score-segment.ts'
import { findTerm, type Segment } from './segment.ts'
import { createTopHits, type Ranking } from './top-hits.ts'

/** A term that live chunks hold. Its contribution to the score of a chunk is always below `bound`. */
interface Term {
  bound: number
  asked: boolean
  /** For each segment, the position among its terms, or -1. */
  positions: readonly number[]
}

/** Memory that all searches share. */
export const SEARCH_BYTES = SCORING_BYTES

/**
 * The best `limit` chunks by BM25: exact, as if the live chunks, and no others, had just been indexed
 * together. With `feedback` the query is expanded first; with `only` no others are offered.
 */
export function searchSegments(
  unordered: readonly Segment[],
  query: QueryTerms,
  limit: number,
  feedback?: Feedback,
  only?: Uint32Array,
): Ranking {
  // The largest first: what it finds spares most of the work in the others.
  const segments = unordered.toSorted((a, b) => b.live - a.live)
  const chunks = segments.reduce((sum, { live }) => sum + live, 0)
  const length = segments.reduce((sum, { liveLength }) => sum + liveLength, 0)
  const norm = lengthNorm(chunks, length)
  // With removed chunks among them, more than there are: their weight would be negative.
  const rarity = (term: number) =>
    inverseFrequency(chunks, Math.min(holdingOf(segments, term), chunks))
  const asked = feedback ? expandQuery(query, feedback, { norm, rarity }) : query
  const terms = weighTerms(segments, asked, query.terms.length, chunks)
  const hits = createTopHits(limit)
  segments.forEach((segment, i) => {
    const offered = only ? { ...segment, removed: hiddenBut(segment, only) } : segment
    scoreSegment(offered, postingsIn(segment, i, terms), norm, hits)
  })
  return hits.take()
}

/**
 * The `asked` first terms of the query before those that feedback added, and of each the heaviest first:
 * the light ones, which most chunks hold, then need only be looked up.
 */
function weighTerms(
  segments: readonly Segment[],
  query: QueryTerms,
  asked: number,
  chunks: number,
): Term[] {
  const terms: Term[] = []
  query.terms.forEach((term, i) => {
    const positions = segments.map((segment) => findTerm(segment, term))
    const holding = segments.reduce(
      (sum, segment, s) => sum + countLive(segment, positions[s] ?? -1),
      0,
    )
    if (holding === 0) return
    const bound = (query.counts[i] ?? 0) * inverseFrequency(chunks, holding) * (K1 + 1)
    terms.push({ bound, asked: i < asked, positions })
  })
  return terms.sort((a, b) => Number(b.asked) - Number(a.asked) || b.bound - a.bound)
}

/** How many chunks hold a term, removed ones included: near enough to weigh what nobody asked for. */
function holdingOf(segments: readonly Segment[], term: number): number {
  let holding = 0
  for (const segment of segments) {
    const position = findTerm(segment, term)
    if (position < 0) continue
    holding += (segment.offsets[position + 1] ?? 0) - (segment.offsets[position] ?? 0)
  }
  return holding
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
  for (const { bound, asked, positions } of terms) {
    const position = positions[segment] ?? -1
    if (position < 0) continue
    lists.push({ from: offsets[position] ?? 0, to: offsets[position + 1] ?? 0, bound, asked })
  }
  return lists
}
