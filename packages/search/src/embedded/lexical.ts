import { lowerBound } from '@agent-server/lib/lower-bound.ts'
import { createTopHits, type Ranking } from '../ranking.ts'
import {
  inverseFrequency,
  K1,
  type QueryTerms,
  shareOfTerms,
  type TermBatch,
} from '../term-batch.ts'
import type { Scope } from './scope.ts'
import { postingsIn, scoreSegment, type WeightedTerm } from './score.ts'
import { buildSegment, findKey, findTerm, normOf, removeChunk, type Segment } from './segment.ts'

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

    search: (query: QueryTerms, limit: number, scope?: Scope) =>
      searchSegments(segments, query, limit, scope),
    frequencies: (terms: Uint32Array, scope?: Scope) =>
      terms.map((term) =>
        segments.reduce((sum, segment) => {
          const removed = scope ? scope.excludedIn(segment) : segment.removed
          return sum + liveHolders({ ...segment, removed }, findTerm(segment, term))
        }, 0),
      ),
    sharesOf: (query: QueryTerms, keys: Uint32Array) => sharesIn(segments, query, keys),

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
 * `scope` restricts the matches but does not affect their scores.
 */
function searchSegments(
  unordered: readonly Segment[],
  query: QueryTerms,
  limit: number,
  scope?: Scope,
): Ranking {
  // The largest first: the threshold it sets saves most of the work in the others.
  const segments = unordered.toSorted((a, b) => b.live - a.live)
  const { chunks, norm } = normOf(segments)
  const terms = weighTerms(segments, query, chunks)
  const hits = createTopHits(limit)
  segments.forEach((segment, i) => {
    const visible = scope ? { ...segment, removed: scope.excludedIn(segment) } : segment
    scoreSegment(visible, postingsIn(segment, i, terms), norm, hits)
  })
  return hits.take()
}

/** The share of the query's terms, by their counts, that each of these chunks contains; NaN for an unknown key. */
function sharesIn(
  segments: readonly Segment[],
  query: QueryTerms,
  keys: Uint32Array,
): Float64Array<ArrayBuffer> {
  const shares = new Float64Array(keys.length).fill(Number.NaN)
  for (const segment of segments) {
    const positions = Array.from(query.terms, (term) => findTerm(segment, term))
    for (const [place, key] of keys.entries()) {
      const ordinal = findKey(segment, key)
      if (ordinal < 0 || segment.removed?.[ordinal]) continue
      shares[place] = shareOfTerms(query, (_, i) => holds(segment, positions[i] ?? -1, ordinal))
    }
  }
  return shares
}

/** Whether the chunk at `ordinal` contains the term at `position`, which is -1 for none. */
function holds({ offsets, ordinals }: Segment, position: number, ordinal: number): boolean {
  if (position < 0) return false
  const to = offsets[position + 1] ?? 0
  const at = lowerBound(ordinals, ordinal, offsets[position] ?? 0, to)
  return at < to && ordinals[at] === ordinal
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
