import type { Block } from '@agent-server/lib/markdown/blocks.ts'
import {
  atCodePoint,
  isBlank,
  isLineBreak,
  skipBlanks,
  skipIndent,
  trimEnd,
} from '@agent-server/lib/markdown/characters.ts'
import { beginsItem, readLine } from '@agent-server/lib/markdown/lines.ts'
import { BOUNDARY, estimateTokens, tokensOf, type Unit } from './pack-units.ts'
import { findSentenceEnd, hasLineBreak, isTerminator } from './sentences.ts'

/** Anything shorter does not end a sentence: a number, an initial, `Yes.` */
const MIN_SENTENCE_TOKENS = 4
/** The header and delimiter rows of a table stay with its first row. */
const TABLE_HEAD_ROWS = 2

interface UnitLimits {
  /** The most tokens of one unit. */
  unit: number
  /** The most tokens of a piece of something that is too long for one unit. */
  piece: number
}

/** Cuts a block into units, in order; together they cover everything in it but whitespace. */
export function* splitBlock(
  text: string,
  block: Block,
  boundary: number,
  limits: UnitLimits,
): Generator<Unit> {
  for (const unit of unitsOf(text, block, boundary, limits)) {
    if (unit.tokens <= limits.unit) yield unit
    else yield* cutLong(text, unit, limits.piece)
  }
}

function unitsOf(text: string, block: Block, boundary: number, limits: UnitLimits): Iterable<Unit> {
  const { kind, start, end } = block
  if (kind === 'prose' || kind === 'list' || kind === 'quote') {
    return splitSentences(text, block, boundary)
  }
  const tokens = estimateTokens(text, start, end)
  if (kind !== 'heading' && tokens > limits.unit) return splitRows(text, block, boundary)
  return [{ start, end, tokens, boundary, repeatable: false }]
}

/** Splits a block that is too long for one unit into its lines. */
function* splitRows(text: string, block: Block, boundary: number): Generator<Unit> {
  const columns = block.kind === 'table' ? columnsOf(text, block) : ''
  let row = 0
  let line = readLine(text, block.start)
  for (; line && line.start < block.end; line = readLine(text, line.next)) {
    const { start, end, afterBlankLine } = line
    const tokens = estimateTokens(text, start, end)
    const before = row === 0 ? boundary : boundaryBeforeRow(block, row, afterBlankLine)
    const isBelowHead = columns !== '' && row >= TABLE_HEAD_ROWS
    const unit = { start, end, tokens, boundary: before, repeatable: false }
    yield isBelowHead ? { ...unit, columns } : unit
    row++
  }
}

/** UTF-16 code units of the names of columns. */
const MAX_COLUMNS = 240

/** The names in the first row of a table: `Bird | Pairs`. */
function columnsOf(text: string, block: Block): string {
  const head = readLine(text, block.start)
  if (!head) return ''
  const names = text
    .slice(head.start, head.end)
    .split('|')
    .map((name) => name.trim())
    .filter(Boolean)
    .join(' | ')
  return names.slice(0, atCodePoint(names, MAX_COLUMNS)).trimEnd()
}

function boundaryBeforeRow(block: Block, row: number, afterBlankLine: boolean): number {
  if (block.kind === 'table' && row <= TABLE_HEAD_ROWS) return BOUNDARY.never
  return afterBlankLine ? BOUNDARY.item : BOUNDARY.line
}

function* splitSentences(text: string, block: Block, boundary: number): Generator<Unit> {
  let start = block.start
  let before = boundary
  let tokens = 0
  const unitTo = (end: number): Unit => ({
    start,
    end: trimEnd(text, start, end),
    tokens,
    boundary: before,
    repeatable: true,
  })

  for (let index = start; index < block.end; index++) {
    tokens += tokensOf(text.charCodeAt(index))
    const stop = findStop(text, index, tokens, block)
    if (!stop) continue
    tokens += estimateTokens(text, index + 1, stop.end)
    yield unitTo(stop.end)
    start = stop.next
    before = stop.boundary
    tokens = 0
    index = stop.next - 1
  }
  if (start < block.end) yield unitTo(block.end)
}

/** The end of a sentence or list item of `tokens` tokens, if the character at `index` ends it. */
function findStop(text: string, index: number, tokens: number, block: Block) {
  const code = text.charCodeAt(index)
  if (isLineBreak(code)) {
    if (block.kind !== 'list') return undefined
    const next = skipIndent(text, index + 1, block.end)
    return beginsItem(text, next, block.end)
      ? { end: index, next, boundary: BOUNDARY.item }
      : undefined
  }
  if (!isTerminator(code) || tokens < MIN_SENTENCE_TOKENS) return undefined
  const end = findSentenceEnd(text, index, block.end)
  if (end < 0) return undefined
  const next = skipBlanks(text, end, block.end)
  return { end, next, boundary: boundaryAfterSentence(text, end, next, block) }
}

function boundaryAfterSentence(text: string, end: number, next: number, block: Block): number {
  if (!hasLineBreak(text, end, next)) return BOUNDARY.sentence
  return block.kind === 'list' && beginsItem(text, next, block.end) ? BOUNDARY.item : BOUNDARY.line
}

const CLAUSE_MARKS = ',;:，、；：،؛'
/** The earliest place to cut, as a share of the piece, so that no text is read more than four times. */
const EARLIEST_CUT = 0.25
/** How far around a position word and character boundaries are looked for. */
const WINDOW = 64

let words: Intl.Segmenter | undefined
let graphemes: Intl.Segmenter | undefined

/**
 * Cuts a sentence, line or word that is too long for a chunk into pieces of at most `limit` tokens: preferably at the
 * end of a line, else after a clause, between words, or between characters.
 */
function* cutLong(
  text: string,
  { start, end, boundary, columns }: Unit,
  limit: number,
): Generator<Unit> {
  let position = skipBlanks(text, start, end)
  let before = boundary
  while (position < end) {
    const cut = findCut(text, position, end, limit)
    const pieceEnd = trimEnd(text, position, cut.at)
    const tokens = estimateTokens(text, position, pieceEnd)
    if (pieceEnd > position) {
      const piece = { start: position, end: pieceEnd, tokens, boundary: before, repeatable: true }
      yield columns === undefined ? piece : { ...piece, columns }
    }
    before = cut.boundary
    position = skipBlanks(text, cut.at, end)
  }
}

/** Where to cut, and how good a place it is. */
function findCut(text: string, start: number, end: number, limit: number) {
  const latest = furthest(text, start, end, limit)
  if (latest >= end) return { at: end, boundary: BOUNDARY.anywhere }

  const earliest = start + Math.floor((latest - start) * EARLIEST_CUT)
  let best: { at: number; boundary: number } | undefined
  for (let index = earliest; index < latest; index++) {
    const boundary = boundaryAfter(text, index)
    if (boundary === undefined || (best && boundary < best.boundary)) continue
    best = { at: index + 1, boundary }
  }
  return best ?? { at: cutWithinWord(text, start, latest), boundary: BOUNDARY.anywhere }
}

/** The first position after `start` that exceeds `limit` tokens; one character always fits. */
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

/** The last word boundary at or before `latest`; in a word longer than the window, a character boundary. */
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

/** Characters that never combine with a neighbour of the same kind. */
function isPlain(code: number): boolean {
  return code < 0x300
}
