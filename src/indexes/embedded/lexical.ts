import {
  addedTerms,
  FEEDBACK_CHUNKS,
  keepFirst,
  MIN_RESCORED,
  type WeighedMatch,
} from '../feedback.ts'
import { createTopHits, type Ranking, toMatches, toRanking } from '../ranking.ts'
import {
  inverseFrequency,
  K1,
  type LengthNorm,
  type QueryTerms,
  type TermBatch,
  termWeight,
} from '../term-batch.ts'
import { termsOf } from './chunk-terms.ts'
import { type Postings, postingsIn, scoreSegment, type WeightedTerm } from './score.ts'
import {
  buildSegment,
  excludedBy,
  findKey,
  findTerm,
  normOf,
  removeChunk,
  type Segment,
  seek,
} from './segment.ts'

export type LexicalIndex = ReturnType<typeof createLexicalIndex>

/** The lexical index: segments that together hold every live key exactly once. */
export function createLexicalIndex(loaded: readonly Segment[]) {
  let segments = [...loaded]
  let version = 0

  const remove = (keys: Iterable<number>) => {
    for (const key of keys) {
      if (segments.some((segment) => removeKey(segment, key))) version++
    }
    segments = segments.filter(({ live }) => live > 0)
  }

  return {
    get segments(): readonly Segment[] {
      return segments
    },
    /** Incremented with every change of the content. */
    get version() {
      return version
    },
    remove,

    /** Adds the chunks `[from, to)` of a batch, at most `MAX_CHUNKS_BUILT`. */
    add(keys: Uint32Array, batch: TermBatch, from: number, to: number): void {
      const segment = buildSegment(keys, batch, from, to)
      remove(segment.keys)
      segments = [...segments, segment]
      version++
    },

    /** Replaces segments by the result of their merge. */
    replace(sources: readonly Segment[], merged: Segment): void {
      const others = segments.filter((segment) => !sources.includes(segment))
      segments = merged.live > 0 ? [...others, merged] : others
    },

    search: (query: QueryTerms, limit: number, only?: Uint32Array) =>
      searchSegments(segments, query, limit, only),
    /** Like `search`, with pseudo-relevance feedback; none of its terms finds another chunk. */
    searchWithFeedback: (query: QueryTerms, limit: number, only?: Uint32Array) => {
      const found = searchSegments(segments, query, Math.max(limit, MIN_RESCORED), only)
      const [best] = found.keys
      if (best === undefined) return found
      const isFew = found.keys.length < FEEDBACK_CHUNKS
      const rescored = isFew ? found : rescore(segments, query, found, limit)
      return toRanking(keepFirst(best, toMatches(rescored), limit))
    },

    keys(): Uint32Array<ArrayBuffer> {
      const keys = new Uint32Array(segments.reduce((sum, { live }) => sum + live, 0))
      let next = 0
      for (const segment of segments) {
        segment.keys.forEach((key, ordinal) => {
          if (!segment.removed?.[ordinal]) keys[next++] = key
        })
      }
      return keys.sort()
    },
  }
}

function removeKey(segment: Segment, key: number): boolean {
  const ordinal = findKey(segment, key)
  return ordinal >= 0 && removeChunk(segment, ordinal)
}

/**
 * The best `limit` chunks by BM25. Scores are exact: as if just the live chunks had been indexed, in one segment.
 * `only` restricts the matches but does not affect their scores.
 */
function searchSegments(
  unordered: readonly Segment[],
  query: QueryTerms,
  limit: number,
  only?: Uint32Array,
): Ranking {
  // The largest first: the threshold it sets saves most of the work in the others.
  const segments = unordered.toSorted((a, b) => b.live - a.live)
  const { chunks, norm } = normOf(segments)
  const terms = weighTerms(segments, query, chunks)
  const hits = createTopHits(limit)
  segments.forEach((segment, i) => {
    const offered = only ? { ...segment, removed: excludedBy(segment, only) } : segment
    scoreSegment(offered, postingsIn(segment, i, terms), norm, hits)
  })
  return hits.take()
}

/** Heaviest terms first: the light ones, which many chunks contain, then need only be looked up. */
function weighTerms(
  segments: readonly Segment[],
  query: QueryTerms,
  chunks: number,
): WeightedTerm[] {
  const terms: WeightedTerm[] = []
  query.terms.forEach((term, i) => {
    const positions = segments.map((segment) => findTerm(segment, term))
    const holding = segments.reduce(
      (sum, segment, s) => sum + liveHolders(segment, positions[s]),
      0,
    )
    if (holding === 0) return
    const bound = (query.counts[i] ?? 0) * inverseFrequency(chunks, holding) * (K1 + 1)
    terms.push({ bound, positions })
  })
  return terms.sort((a, b) => b.bound - a.bound)
}

/** How many chunks contain the term at `position`, including removed ones. */
function holders({ offsets }: Segment, position = -1): number {
  return position < 0 ? 0 : (offsets[position + 1] ?? 0) - (offsets[position] ?? 0)
}

/** How many live chunks contain the term at `position`. */
function liveHolders(segment: Segment, position = -1): number {
  const { offsets, ordinals, removed } = segment
  if (position < 0 || !removed) return holders(segment, position)
  const from = offsets[position] ?? 0
  const to = offsets[position + 1] ?? 0
  let live = 0
  for (let i = from; i < to; i++) live += 1 - (removed[ordinals[i] ?? 0] ?? 0)
  return live
}

/** A chunk of a segment, with its place in the ranking. */
interface Located {
  ordinal: number
  place: number
}

/**
 * The best `limit` of the matches of a query, after adding to their scores those of the terms that feedback adds. Only
 * the matches are looked up, so that the time hardly depends on the size of the index.
 */
function rescore(
  segments: readonly Segment[],
  query: QueryTerms,
  found: Ranking,
  limit: number,
): Ranking {
  const { keys } = found
  const { chunks, norm } = normOf(segments)
  const added = findAdded(segments, query, found, { chunks, norm })
  const scores = Float64Array.from(found.scores)
  const places = byKey(keys)
  segments.forEach((segment, s) => {
    const located = locate(segment, keys, places)
    if (located.length === 0) return
    // Scores are summed in the order of the terms, so that they do not depend on the segments.
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
  found: Ranking,
  { chunks, norm }: { chunks: number; norm: LengthNorm },
): WeightedTerm[] {
  const looked = new Map<number, { idf: number; positions: number[] }>()
  const look = (term: number) => {
    const positions = segments.map((segment) => findTerm(segment, term))
    // Includes removed chunks: accurate enough for added terms, but capped at the number of live chunks.
    const holding = segments.reduce((sum, segment, s) => sum + holders(segment, positions[s]), 0)
    const idf = inverseFrequency(chunks, Math.min(holding, chunks))
    looked.set(term, { idf, positions })
    return idf
  }
  const { terms, counts } = addedTerms(query, leadingMatches(segments, found, norm), look)
  return Array.from(terms, (term, i) => {
    const { idf, positions } = looked.get(term) ?? { idf: 0, positions: [] }
    return { bound: (counts[i] ?? 0) * idf * (K1 + 1), positions }
  })
}

function leadingMatches(
  segments: readonly Segment[],
  { keys, scores }: Ranking,
  norm: LengthNorm,
): WeighedMatch[] {
  return termsOf(segments, keys.subarray(0, FEEDBACK_CHUNKS)).map((chunk, place) => {
    const { key, length, terms, counts } = chunk
    const weights = new Float64Array(counts.length)
    for (let i = 0; i < counts.length; i++) weights[i] = termWeight(counts[i] ?? 0, length, norm)
    return { key, score: scores[place] ?? 0, terms, weights }
  })
}

/** The places of a ranking, sorted by ascending key. */
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
