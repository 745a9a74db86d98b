import { lowerBound } from '../../lib/lower-bound.ts'
import type { Feedback, Ranking } from '../chunk-index.ts'
import { inverseFrequency, K1, type QueryTerms, type TermBatch } from '../term-batch.ts'
import { createTopHits } from '../top-hits.ts'
import { buildSegment } from './build-segment.ts'
import { termsOf } from './chunk-terms.ts'
import type { Merge } from './merge.ts'
import { rescore } from './rescore.ts'
import { postingsIn, scoreSegment, type WeightedTerm } from './score.ts'
import { findKey, findTerm, normOf, removeChunk, type Segment, seek } from './segment.ts'

export type LexicalIndex = ReturnType<typeof createLexicalIndex>

/** Segments that together hold every live key once. */
export function createLexicalIndex(loaded: readonly Segment[]) {
  let segments = [...loaded]
  let version = 0

  const remove = (keys: Iterable<number>) => {
    for (const key of keys) {
      if (removeKey(segments, key)) version++
    }
    segments = segments.filter(({ live }) => live > 0)
  }

  return {
    get segments(): readonly Segment[] {
      return segments
    },
    /** Grows with every change of what the index holds. */
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

    /** Puts the outcome of a merge in the place of its sources. */
    replace(sources: readonly Segment[], { merged, placements }: Merge): void {
      sources.forEach(({ removed }, i) => {
        placements[i]?.forEach((place, ordinal) => {
          if (place >= 0 && removed?.[ordinal]) removeChunk(merged, place)
        })
      })
      const others = segments.filter((segment) => !sources.includes(segment))
      segments = merged.live > 0 ? [...others, merged] : others
    },

    search: (query: QueryTerms, limit: number, only?: Uint32Array) =>
      searchSegments(segments, query, limit, only),
    /** The terms of the chunks with these keys, in their order; of those that it does not hold, none. */
    termsOf: (keys: Iterable<number>) => termsOf(segments, keys),
    /** The best of what `query` found before, by what its best chunks say beyond it as well. */
    rescore: (query: QueryTerms, limit: number, feedback: Feedback) =>
      rescore(segments, query, feedback, limit),

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

function removeKey(segments: readonly Segment[], key: number): boolean {
  for (const segment of segments) {
    const ordinal = findKey(segment, key)
    if (ordinal >= 0 && removeChunk(segment, ordinal)) return true
  }
  return false
}

/**
 * The best `limit` chunks by BM25: exact, as if the live chunks, and no others, had just been indexed
 * together. With `only` no others are offered.
 */
function searchSegments(
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
    const offered = only ? { ...segment, removed: excludedBy(segment, only) } : segment
    scoreSegment(offered, postingsIn(segment, i, terms), norm, hits)
  })
  return hits.take()
}

/** The heaviest first: the light ones, which most chunks hold, then need only be looked up. */
function weighTerms(
  segments: readonly Segment[],
  query: QueryTerms,
  chunks: number,
): WeightedTerm[] {
  const terms: WeightedTerm[] = []
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

/** 1 at the ordinal of every chunk that is removed or whose key is not among `only`, which ascend. */
function excludedBy({ keys, removed }: Segment, only: Uint32Array): Uint8Array<ArrayBuffer> {
  const excluded = new Uint8Array(keys.length).fill(1)
  const first = lowerBound(only, keys[0] ?? 0, 0, only.length)
  let ordinal = 0
  for (let i = first; i < only.length && ordinal < keys.length; i++) {
    const key = only[i] ?? 0
    ordinal = seek(keys, key, ordinal, keys.length)
    if (keys[ordinal] === key) excluded[ordinal] = removed?.[ordinal] ?? 0
  }
  return excluded
}
