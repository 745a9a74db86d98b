import { MOST_CHUNKS, type Segment } from './segment.ts'

/** As many segments of like size become one, so that a chunk is copied once for each factor of eight that the index grows. */
const FAN_IN = 8
/** Segments are alike when their sizes have the same power of eight. */
const TIER_BITS = 3
/** The most segments merged at once, when they are merged to be written. */
const MOST_SOURCES = 16
/** The share of removed chunks at which a segment is rewritten. */
const MOST_REMOVED = 0.3

/** The segments to merge next, small ones first; nothing when all is well. */
export function chooseMerge(segments: readonly Segment[]): Segment[] | undefined {
  const bySize = segments.toSorted((a, b) => a.live - b.live)
  for (let from = 0; from < bySize.length; ) {
    const tier = tierOf(bySize[from])
    const end = bySize.findIndex((segment, i) => i > from && tierOf(segment) !== tier)
    const alike = bySize.slice(from, end < 0 ? undefined : end)
    if (alike.length >= FAN_IN) {
      const fitting = takeFitting(alike, FAN_IN)
      if (fitting.length > 1) return fitting
    }
    from += alike.length
  }
  const worn = bySize.find(({ keys, live }) => live < keys.length * (1 - MOST_REMOVED))
  return worn && [worn]
}

/** Small segments to merge before they are written, so that a write leaves few files behind. */
export function chooseMergeToWrite(unwritten: readonly Segment[]): Segment[] | undefined {
  const fitting = takeFitting(
    unwritten.toSorted((a, b) => a.live - b.live),
    MOST_SOURCES,
  )
  return fitting.length > 1 ? fitting : undefined
}

function tierOf(segment: Segment | undefined): number {
  return Math.floor((31 - Math.clz32(segment?.live ?? 1)) / TIER_BITS)
}

/** The first of `segments` that together fit one segment. */
function takeFitting(segments: readonly Segment[], most: number): Segment[] {
  let chunks = 0
  return segments.slice(0, most).filter(({ live }) => {
    chunks += live
    return chunks <= MOST_CHUNKS
  })
}
