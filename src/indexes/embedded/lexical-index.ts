import type { Feedback, Ranking } from '../chunk-index.ts'
import type { QueryTerms, TermBatch } from '../term-batch.ts'
import { buildSegment } from './build-segment.ts'
import { liftFound } from './lift-found.ts'
import type { Merge } from './merge-segments.ts'
import { SEARCH_BYTES, searchSegments } from './search-segments.ts'
import { findKey, removeChunk, type Segment } from './segment.ts'

/** Segments that together hold every live key once. */
export interface LexicalIndex {
  readonly segments: readonly Segment[]
  /** Grows with every change of what the index holds. */
  readonly version: number
  /** Adds the chunks `[from, to)` of a batch, at most `MOST_CHUNKS_BUILT`. */
  add(keys: Uint32Array, batch: TermBatch, from: number, to: number): void
  remove(keys: Iterable<number>): void
  /** Puts the outcome of a merge in the place of its sources. */
  replace(sources: readonly Segment[], merge: Merge): void
  search(query: QueryTerms, limit: number, only?: Uint32Array): Ranking
  /** The best of what `query` found before, by what its best chunks say beyond it as well. */
  reorder(query: QueryTerms, limit: number, feedback: Feedback): Ranking
  keys(): Uint32Array<ArrayBuffer>
  statistics(): { chunks: number; bytes: number; segments: number }
}

export function createLexicalIndex(loaded: readonly Segment[]): LexicalIndex {
  let segments = [...loaded]
  let version = 0

  const remove = (keys: Iterable<number>) => {
    for (const key of keys) {
      if (removeKey(segments, key)) version++
    }
    segments = segments.filter(({ live }) => live > 0)
  }

  return {
    get segments() {
      return segments
    },
    get version() {
      return version
    },
    remove,

    add(keys, batch, from, to) {
      const segment = buildSegment(keys, batch, from, to)
      remove(segment.keys)
      segments = [...segments, segment]
      version++
    },

    replace(sources, { merged, placements }) {
      sources.forEach(({ removed }, i) => {
        placements[i]?.forEach((place, ordinal) => {
          if (place >= 0 && removed?.[ordinal]) removeChunk(merged, place)
        })
      })
      const others = segments.filter((segment) => !sources.includes(segment))
      segments = merged.live > 0 ? [...others, merged] : others
    },

    search: (query, limit, only) => searchSegments(segments, query, limit, only),
    reorder: (query, limit, feedback) => liftFound(segments, query, feedback, limit),

    keys() {
      const keys = new Uint32Array(sum(segments, ({ live }) => live))
      let next = 0
      for (const segment of segments) {
        segment.keys.forEach((key, ordinal) => {
          if (!segment.removed?.[ordinal]) keys[next++] = key
        })
      }
      return keys.sort()
    },

    statistics: () => ({
      chunks: sum(segments, ({ live }) => live),
      bytes: SEARCH_BYTES + sum(segments, bytesOf),
      segments: segments.length,
    }),
  }
}

function removeKey(segments: readonly Segment[], key: number): boolean {
  for (const segment of segments) {
    const ordinal = findKey(segment, key)
    if (ordinal >= 0 && removeChunk(segment, ordinal)) return true
  }
  return false
}

function bytesOf({ bytes, removed }: Segment): number {
  return bytes.byteLength + (removed?.byteLength ?? 0)
}

function sum(segments: readonly Segment[], amountOf: (segment: Segment) => number): number {
  return segments.reduce((total, segment) => total + amountOf(segment), 0)
}
