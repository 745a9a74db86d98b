import {
  atCodePoint,
  isBlank,
  isLineBreak,
  skipBlanks,
  trimEnd,
} from '../../../lib/markdown/characters.ts'
import { BOUNDARY, type Unit } from './pack-units.ts'
import { estimateTokens, tokensOf } from './tokens.ts'

const CLAUSE_MARKS = ',;:，、；：،؛'
/** A place to cut is taken only from here on, as a share of the piece; so no text is read more than four times. */
const EARLIEST_CUT = 0.25
/** How far around a place the boundaries between words and between characters are looked for. */
const WINDOW = 64

let words: Intl.Segmenter | undefined
let graphemes: Intl.Segmenter | undefined

/**
 * Cuts a sentence, line or word that is too long for a chunk into pieces of at most `limit` tokens: at a
 * line's end, after a clause, between words, between characters, in this order.
 */
export function* cutLong(
  text: string,
  start: number,
  end: number,
  boundary: number,
  limit: number,
): Generator<Unit> {
  let position = skipBlanks(text, start, end)
  let before = boundary
  while (position < end) {
    const cut = findCut(text, position, end, limit)
    const pieceEnd = trimEnd(text, position, cut.at)
    const tokens = estimateTokens(text, position, pieceEnd)
    if (pieceEnd > position) {
      yield { start: position, end: pieceEnd, tokens, boundary: before, repeatable: true }
    }
    before = cut.boundary
    position = skipBlanks(text, cut.at, end)
  }
}

interface Cut {
  at: number
  /** How good a place to cut it is. */
  boundary: number
}

function findCut(text: string, start: number, end: number, limit: number): Cut {
  const latest = furthest(text, start, end, limit)
  if (latest >= end) return { at: end, boundary: BOUNDARY.anywhere }

  const earliest = start + Math.floor((latest - start) * EARLIEST_CUT)
  let best: Cut | undefined
  for (let index = earliest; index < latest; index++) {
    const boundary = boundaryAfter(text, index)
    if (boundary === undefined || (best && boundary < best.boundary)) continue
    best = { at: index + 1, boundary }
  }
  return best ?? { at: cutWithinWord(text, start, latest), boundary: BOUNDARY.anywhere }
}

/** The first position from `start` that no longer fits `limit` tokens; one character always does. */
function furthest(text: string, start: number, end: number, limit: number): number {
  let tokens = tokensOf(text.charCodeAt(start))
  let index = start + 1
  for (; index < end; index++) {
    tokens += tokensOf(text.charCodeAt(index))
    if (tokens > limit) break
  }
  return index
}

function boundaryAfter(text: string, index: number): number | undefined {
  const code = text.charCodeAt(index)
  if (isLineBreak(code)) return BOUNDARY.line
  if (isClauseEnd(text, index, code)) return BOUNDARY.clause
  return isBlank(code) ? BOUNDARY.anywhere : undefined
}

function isClauseEnd(text: string, index: number, code: number): boolean {
  if (code < 0x60c && code !== 0x2c && code !== 0x3a && code !== 0x3b) return false
  if (!CLAUSE_MARKS.includes(text.charAt(index))) return false
  return code > 0x3b || isBlank(text.charCodeAt(index + 1))
}

/** The last boundary between words at or before `latest`; in a word longer than the window, between characters. */
function cutWithinWord(text: string, start: number, latest: number): number {
  if (isPlain(text.charCodeAt(latest - 1)) && isPlain(text.charCodeAt(latest))) return latest
  words ??= new Intl.Segmenter(undefined, { granularity: 'word' })
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  const from = atCodePoint(text, Math.max(start, latest - WINDOW))
  const window = text.slice(from, latest + WINDOW)
  const floor = from === start ? 0 : 1
  return (
    lastBoundary(words, window, latest - from, floor, from) ??
    lastBoundary(graphemes, window, latest - from, floor, from) ??
    Math.max(start + 1, atCodePoint(text, latest))
  )
}

function lastBoundary(
  segmenter: Intl.Segmenter,
  window: string,
  latest: number,
  floor: number,
  offset: number,
): number | undefined {
  let last = floor
  for (const { index } of segmenter.segment(window)) {
    if (index > latest) break
    last = index
  }
  return last > floor ? offset + last : undefined
}

/** Letters that never join with a neighbour of their kind. */
function isPlain(code: number): boolean {
  return code < 0x300
}
