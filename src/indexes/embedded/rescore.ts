import type { Feedback, Ranking } from '../chunk-index.ts'
import { addedTerms, candidateTerms } from '../feedback.ts'
import { inverseFrequency, K1, type LengthNorm, type QueryTerms } from '../term-batch.ts'
import { createTopHits } from '../top-hits.ts'
import { type Postings, postingsIn, type WeightedTerm } from './score.ts'
import { findTerm, normOf, type Segment, seek } from './segment.ts'

/** A chunk of one segment, and its place in the ranking. */
interface Located {
  ordinal: number
  place: number
}

/**
 * The best `limit` of what a query has found, each raised by what it holds of the terms that feedback adds.
 * Only those chunks are looked up, so that the time hardly depends on how many others there are. A chunk
 * that was removed since it was found stays where it is: the document store knows.
 */
export function rescore(
  segments: readonly Segment[],
  query: QueryTerms,
  feedback: Feedback,
  limit: number,
): Ranking {
  const { keys } = feedback.found
  const { chunks, norm } = normOf(segments)
  const added = findAdded(segments, query, feedback, { chunks, norm })
  const scores = Float64Array.from(feedback.found.scores)
  const places = byKey(keys)
  segments.forEach((segment, s) => {
    const located = locate(segment, keys, places)
    if (located.length === 0) return
    // Each chunk gains by the terms in their order, so that its score does not depend on the segments.
    for (const list of postingsIn(segment, s, added)) {
      addScores(segment, list, norm, located, scores)
    }
  })
  const hits = createTopHits(limit)
  keys.forEach((key, place) => {
    hits.offer(key, scores[place] ?? 0)
  })
  return hits.take()
}

function findAdded(
  segments: readonly Segment[],
  query: QueryTerms,
  feedback: Feedback,
  { chunks, norm }: { chunks: number; norm: LengthNorm },
): WeightedTerm[] {
  const found = new Map<number, { idf: number; positions: number[] }>()
  const look = (term: number) => {
    const positions = segments.map((segment) => findTerm(segment, term))
    // Removed chunks among them: near enough to weigh what nobody asked for, but never more than there are.
    const holding = segments.reduce((sum, segment, s) => sum + lengthOf(segment, positions[s]), 0)
    const idf = inverseFrequency(chunks, Math.min(holding, chunks))
    found.set(term, { idf, positions })
    return idf
  }
  const candidates = candidateTerms(query, feedback, norm)
  const { terms, counts } = addedTerms(query, feedback, candidates, look)
  return Array.from(terms, (term, i) => {
    const { idf, positions } = found.get(term) ?? { idf: 0, positions: [] }
    return { bound: (counts[i] ?? 0) * idf * (K1 + 1), positions }
  })
}

function lengthOf({ offsets }: Segment, position = -1): number {
  return position < 0 ? 0 : (offsets[position + 1] ?? 0) - (offsets[position] ?? 0)
}

/** The places of a ranking in the ascending order of its keys. */
function byKey(keys: Uint32Array): Uint32Array {
  return Uint32Array.from(keys, (_, place) => place).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0))
}

function locate(
  { keys: held, removed }: Segment,
  keys: Uint32Array,
  places: Uint32Array,
): Located[] {
  const located: Located[] = []
  let ordinal = 0
  for (const place of places) {
    const key = keys[place] ?? 0
    ordinal = seek(held, key, ordinal, held.length)
    if (ordinal === held.length) break
    if (held[ordinal] !== key || removed?.[ordinal]) continue
    located.push({ ordinal, place })
  }
  return located
}

function addScores(
  { ordinals, counts, lengths }: Segment,
  { from, to, bound }: Postings,
  { base, slope }: LengthNorm,
  located: readonly Located[],
  scores: Float64Array,
): void {
  let at = from
  for (const { ordinal, place } of located) {
    at = seek(ordinals, ordinal, at, to)
    if (at === to) return
    if (ordinals[at] !== ordinal) continue
    const count = counts[at] ?? 0
    const length = base + slope * (lengths[ordinal] ?? 0)
    scores[place] = (scores[place] ?? 0) + (bound * count) / (count + length)
  }
}
