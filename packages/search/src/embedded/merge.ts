import { allocateSegment, countLive, MAX_CHUNKS, type Segment } from './segment.ts'

/** Postings handled between two yields. */
const POSTINGS_PER_STEP = 8_192
/** Placement of a chunk that is not copied. */
const REMOVED = -1

/** A segment being merged. */
interface Source {
  segment: Segment
  /** The new ordinal of each chunk, or `REMOVED`. */
  placement: Int32Array
  /** Whether any chunk is not copied. */
  shrinks: boolean
  /** The next chunk to merge, in the first pass; later the next term. */
  position: number
}

/**
 * Merges the live chunks of `segments` into one segment. Between two steps the segments may be searched, but not changed.
 * No live key may be in two of them, and they must hold at most `MAX_CHUNKS` live chunks in all.
 */
export function* mergeSegments(segments: readonly Segment[]): Generator<void, Segment> {
  const sources = segments.map((segment) => ({
    segment,
    placement: new Int32Array(segment.keys.length).fill(REMOVED),
    shrinks: segment.live < segment.keys.length,
    position: 0,
  }))
  const { keys, lengths } = placeChunks(sources)
  yield
  const size = yield* countPostings(sources)
  const merged = allocateSegment({ chunks: keys.length, ...size })
  merged.keys.set(keys)
  merged.lengths.set(lengths)
  countLive(merged)
  yield
  yield* fillPostings(merged, sources)
  return merged
}

function placeChunks(sources: readonly Source[]): Record<'keys' | 'lengths', Uint32Array> {
  const chunks = sources.reduce((sum, { segment }) => sum + segment.live, 0)
  const keys = new Uint32Array(chunks)
  const lengths = new Uint32Array(chunks)
  for (const source of sources) skipRemoved(source)
  for (let place = 0; place < chunks; place++) {
    const source = lowest(sources, ({ segment }) => segment.keys)
    if (!source) break
    const ordinal = source.position++
    keys[place] = source.segment.keys[ordinal] ?? 0
    lengths[place] = source.segment.lengths[ordinal] ?? 0
    source.placement[ordinal] = place
    skipRemoved(source)
  }
  return { keys, lengths }
}

function skipRemoved(source: Source): void {
  while (source.segment.removed?.[source.position]) source.position++
}

/** The source whose next value is the lowest. */
function lowest(
  sources: readonly Source[],
  valuesOf: (source: Source) => Uint32Array,
): Source | undefined {
  let best: Source | undefined
  let lowestValue = Number.POSITIVE_INFINITY
  for (const source of sources) {
    const value = valuesOf(source)[source.position]
    if (value === undefined || value >= lowestValue) continue
    lowestValue = value
    best = source
  }
  return best
}

/** Iterates over the terms of all sources in ascending order, each with the sources that contain it. */
function* walkTerms(sources: readonly Source[]): Generator<{ term: number; holders: Source[] }> {
  for (const source of sources) source.position = 0
  for (;;) {
    const first = lowest(sources, ({ segment }) => segment.terms)
    const term = first?.segment.terms[first.position]
    if (term === undefined) return
    const holders = sources.filter(({ segment, position }) => segment.terms[position] === term)
    yield { term, holders }
    for (const holder of holders) holder.position++
  }
}

function* countPostings(
  sources: readonly Source[],
): Generator<void, { terms: number; postings: number }> {
  let terms = 0
  let postings = 0
  let handled = 0
  for (const { holders } of walkTerms(sources)) {
    const live = holders.reduce((sum, holder) => sum + countPlaced(holder), 0)
    if (live > 0) terms++
    postings += live
    handled += live + 1
    if (handled < POSTINGS_PER_STEP) continue
    handled = 0
    yield
  }
  return { terms, postings }
}

function countPlaced({ segment, placement, shrinks, position }: Source): number {
  const from = segment.offsets[position] ?? 0
  const to = segment.offsets[position + 1] ?? 0
  if (!shrinks) return to - from
  let placed = 0
  for (let i = from; i < to; i++) {
    if ((placement[segment.ordinals[i] ?? 0] ?? REMOVED) !== REMOVED) placed++
  }
  return placed
}

function* fillPostings(merged: Segment, sources: readonly Source[]): Generator<void> {
  let terms = 0
  let end = 0
  let lastStep = 0
  for (const { term, holders } of walkTerms(sources)) {
    const start = end
    for (const holder of holders) end = copyPostings(holder, merged, end)
    if (end === start) continue
    sortPostings(merged, start, end)
    merged.terms[terms] = term
    merged.offsets[terms++] = start
    if (end - lastStep < POSTINGS_PER_STEP) continue
    lastStep = end
    yield
  }
  merged.offsets[terms] = end
}

/** Copies the postings of the source's current term to `at`; returns the end position. */
function copyPostings({ segment, placement, position }: Source, merged: Segment, at: number) {
  const to = segment.offsets[position + 1] ?? 0
  let end = at
  for (let i = segment.offsets[position] ?? 0; i < to; i++) {
    const place = placement[segment.ordinals[i] ?? 0] ?? REMOVED
    if (place === REMOVED) continue
    merged.ordinals[end] = place
    merged.counts[end++] = segment.counts[i] ?? 0
  }
  return end
}

/** Sorts by ordinal, if necessary. Keys mostly grow over time, so postings of successive segments are often sorted. */
function sortPostings({ ordinals, counts }: Segment, from: number, to: number): void {
  let sorted = from + 1
  while (sorted < to && (ordinals[sorted - 1] ?? 0) < (ordinals[sorted] ?? 0)) sorted++
  if (sorted >= to) return
  const packed = new Uint32Array(to - from)
  for (let i = from; i < to; i++) packed[i - from] = (ordinals[i] ?? 0) * 256 + (counts[i] ?? 0)
  packed.sort()
  packed.forEach((posting, i) => {
    ordinals[from + i] = posting >>> 8
    counts[from + i] = posting & 255
  })
}

/** Number of segments of similar size that are merged: a chunk is copied once per eightfold growth of the index. */
const FAN_IN = 8
/** Segments are of similar size if their sizes lie between the same powers of eight. */
const TIER_BITS = 3
/** Maximum number of segments merged at once before they are written. */
const MAX_SOURCES = 16
/** The share of removed chunks at which a segment is rewritten. */
const MAX_REMOVED = 0.3

/** The segments to merge next, small ones first; undefined if no merge is needed. */
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
  const worn = bySize.find(({ keys, live }) => live < keys.length * (1 - MAX_REMOVED))
  return worn && [worn]
}

/** Small segments to merge before they are written, so that few files are written and few segments searched. */
export function chooseMergeToWrite(unwritten: readonly Segment[]): Segment[] | undefined {
  const bySize = unwritten.toSorted((a, b) => a.live - b.live)
  const fitting = takeFitting(bySize, MAX_SOURCES)
  return fitting.length > 1 ? fitting : undefined
}

function tierOf(segment: Segment | undefined): number {
  return Math.floor((31 - Math.clz32(segment?.live ?? 1)) / TIER_BITS)
}

/** Takes those of the first `most` segments that together fit into one segment. */
function takeFitting(segments: readonly Segment[], most: number): Segment[] {
  let chunks = 0
  return segments.slice(0, most).filter(({ live }) => {
    chunks += live
    return chunks <= MAX_CHUNKS
  })
}
