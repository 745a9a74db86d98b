import type { Block } from '../../../lib/markdown/blocks.ts'
import { isLineBreak, skipBlanks, skipIndent, trimEnd } from '../../../lib/markdown/characters.ts'
import { beginsItem, readLine } from '../../../lib/markdown/lines.ts'
import { cutLong } from './cut-long.ts'
import { BOUNDARY, type Unit } from './pack-units.ts'
import { findSentenceEnd, hasLineBreak, isTerminator } from './sentences.ts'
import { estimateTokens, tokensOf } from './tokens.ts'

/** Less than this is no sentence worth a boundary: a number, an initial, `Yes.` */
const MIN_SENTENCE_TOKENS = 4
/** The head and the dashes of a table stay with its first row. */
const TABLE_HEAD_ROWS = 2

interface UnitLimits {
  /** The most tokens of one unit. */
  unit: number
  /** The most tokens of a piece of something that is longer than a unit may be. */
  piece: number
}

/** Cuts a block into units, in order; together they hold all of it that is not blank. */
export function* splitBlock(
  text: string,
  block: Block,
  boundary: number,
  limits: UnitLimits,
): Generator<Unit> {
  for (const unit of unitsOf(text, block, boundary, limits)) {
    if (unit.tokens <= limits.unit) yield unit
    else yield* cutLong(text, unit.start, unit.end, unit.boundary, limits.piece)
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

/** A block too long for one unit, line by line. */
function* splitRows(text: string, block: Block, boundary: number): Generator<Unit> {
  let row = 0
  let line = readLine(text, block.start)
  for (; line && line.start < block.end; line = readLine(text, line.next)) {
    const { start, end, afterBlankLine } = line
    const tokens = estimateTokens(text, start, end)
    const before = row === 0 ? boundary : boundaryBeforeRow(block, row, afterBlankLine)
    yield { start, end, tokens, boundary: before, repeatable: false }
    row++
  }
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
    ...{ start, end: trimEnd(text, start, end), tokens, boundary: before, repeatable: true },
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

interface Stop {
  end: number
  next: number
  boundary: number
}

/** Whether a sentence or an item of `tokens` tokens ends with the character at `index`. */
function findStop(text: string, index: number, tokens: number, block: Block): Stop | undefined {
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
  return { end, next, boundary: boundaryBetween(text, end, next, block) }
}

function boundaryBetween(text: string, end: number, next: number, block: Block): number {
  if (!hasLineBreak(text, end, next)) return BOUNDARY.sentence
  return block.kind === 'list' && beginsItem(text, next, block.end) ? BOUNDARY.item : BOUNDARY.line
}
