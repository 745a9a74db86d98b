/** `start` and `end` are offsets into the text that was split, in UTF-16 code units. */
export interface SplitChunk {
  text: string
  heading: string
  start: number
  end: number
}

interface HeadedUnit extends Unit {
  heading: string
}

interface PendingUnit extends HeadedUnit {
  /** Tokens of the whitespace before it: they count for all but the first unit of a chunk. */
  gap: number
}

/** Fills chunks with units as they arrive, holding no more than one chunk's worth of units. */
export function createUnitPacker(text: string, limits: SplitLimits) {
  const chunks: SplitChunk[] = []
  let pending: PendingUnit[] = []
  let pendingTokens = 0
  let position = 0
  /** How many of the pending units are already in the last chunk. */
  let repeated = 0
  /** How many chunks are not extended any more. */
  let closed = 0

  const emit = (first: { start: number; heading: string }, end: number) => {
    const { start, heading } = first
    chunks.push({ text: text.slice(start, end), heading, start, end })
  }

  const keepFrom = (index: number) => {
    pending = pending.slice(index)
    pendingTokens = spanOf(pending)
  }

  const cutAfter = (count: number, next: PendingUnit) => {
    const [first] = pending
    const last = pending[count - 1]
    if (!first || !last) return
    emit(first, last.end)
    const after = pending[count] ?? next
    const keep = isFreshStart(after.boundary) ? count : overlapStart(pending, count, limits.overlap)
    repeated = count - keep
    keepFrom(keep)
  }

  const dropRepeated = () => {
    keepFrom(pending.length)
    repeated = 0
  }

  const finish = (): SplitChunk[] => {
    const previous = chunks.length > closed ? chunks.at(-1) : undefined
    const [first] = pending
    const last = pending.at(-1)
    if (!first || !last) return chunks
    const fresh = pending.slice(repeated)
    if (previous && spanOf(fresh) + (fresh[0]?.gap ?? 0) < limits.least) {
      chunks.pop()
      emit(previous, last.end)
    } else emit(first, last.end)
    return chunks
  }

  return {
    add(unit: HeadedUnit): void {
      const next = { ...unit, gap: estimateTokens(text, position, unit.start) }
      position = unit.end
      if (isFreshStart(unit.boundary) && pendingTokens >= limits.enough) {
        cutAfter(pending.length, next)
      }
      while (pending.length > 0 && pendingTokens + next.gap + next.tokens > limits.tokens) {
        if (repeated === pending.length) dropRepeated()
        else cutAfter(bestCount(pending, repeated, next, limits.tokens), next)
      }
      pendingTokens += next.tokens + (pending.length > 0 ? next.gap : 0)
      pending.push(next)
    },
    /** Ends a chunk here, however short; the next one repeats nothing. */
    cut(): void {
      finish()
      dropRepeated()
      closed = chunks.length
    },
    finish,
  }
}

/** After how many pending units to cut: where fill plus boundary is greatest; on a tie, the latest. */
function bestCount(
  pending: readonly PendingUnit[],
  repeated: number,
  next: PendingUnit,
  limit: number,
): number {
  let best = pending.length
  let bestWorth = Number.NEGATIVE_INFINITY
  let tokens = 0
  for (const [index, unit] of pending.entries()) {
    tokens += unit.tokens + (index > 0 ? unit.gap : 0)
    if (index < repeated) continue
    const worth = tokens / limit + (pending[index + 1] ?? next).boundary
    if (worth < bestWorth) continue
    bestWorth = worth
    best = index + 1
  }
  return best
}

/** Where the longest run of units before `count` starts that fits the overlap; `count` if none. */
function overlapStart(pending: readonly PendingUnit[], count: number, overlap: number): number {
  let start = count
  let tokens = 0
  while (start > 1) {
    const unit = pending[start - 1]
    if (!unit?.repeatable) break
    tokens += unit.tokens + (start < count ? (pending[start]?.gap ?? 0) : 0)
    if (tokens > overlap) break
    start--
  }
  return start
}

function spanOf(units: readonly PendingUnit[]): number {
  let tokens = 0
  for (const unit of units) tokens += unit.gap + unit.tokens
  return tokens - (units[0]?.gap ?? 0)
}

/** A piece of text that is never cut: a sentence, a list item, a row, a block of code that fits. */
export interface Unit {
  start: number
  end: number
  /** Estimated tokens. */
  tokens: number
  /** How good a place to cut is just before it, see `BOUNDARY`. */
  boundary: number
  /** Whether it may be repeated at the beginning of the next chunk. */
  repeatable: boolean
  /** The names of the columns of the table that it continues. */
  columns?: string
}

/**
 * How much of a chunk is worth giving up to cut at a place: a chunk is cut where its fill plus this value is
 * greatest, so a chunk that is 60 % full is cut before a paragraph rather than filled up in mid-sentence.
 */
export const BOUNDARY = {
  heading: 0.8,
  paragraph: 0.6,
  /** Before code, a table, a list or a quotation: these often belong to what precedes them. */
  block: 0.4,
  item: 0.3,
  line: 0.25,
  sentence: 0.15,
  clause: 0.05,
  anywhere: 0,
  /** After a heading, or within the head of a table. */
  never: -1,
} as const

/** Whether a new subject begins here: a chunk that holds enough ends before it, and the next repeats nothing. */
function isFreshStart(boundary: number): boolean {
  return boundary >= BOUNDARY.paragraph
}

/** Sizes in estimated tokens. */
export interface SplitLimits {
  /** The most a chunk may hold; the last chunk of a text may hold `least` more. */
  tokens: number
  /** The most that a chunk may repeat from the end of the previous one. */
  overlap: number
  /** A last chunk with less than this is merged into the previous one. */
  least: number
  /** A heading or paragraph starts a new chunk if the current one holds at least this much. */
  enough: number
}

/** Measured, see docs/internals/ingestion.md. */
export const SPLIT_LIMITS: SplitLimits = { tokens: 400, overlap: 60, least: 60, enough: 200 }

/**
 * Roughly what a byte-pair vocabulary makes of one UTF-16 code unit: four Latin letters, nearly three Greek or
 * Cyrillic ones, two of an Indic or Thai script, or one ideograph per token; two tokens for an emoji. A real tokenizer
 * takes seconds for a hundred thousand equal letters; this one is linear. All values are multiples of 1/8, so that
 * sums are exact.
 */
export function tokensOf(code: number): number {
  if (code < 0x300) return 0.25
  if (code < 0x900) return 0.375
  return code < 0x2e80 ? 0.5 : 1
}

/** Estimated tokens of `text` between two offsets, in time linear in their distance. */
export function estimateTokens(text: string, start = 0, end = text.length): number {
  let tokens = 0
  for (let index = start; index < end; index++) tokens += tokensOf(text.charCodeAt(index))
  return tokens
}
