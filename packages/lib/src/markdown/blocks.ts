import { trimEnd } from './characters.ts'
import {
  classifyLine,
  closesFence,
  type Fence,
  type Line,
  type LineMark,
  readLine,
} from './lines.ts'

/** A block of Markdown; `start` and `end` exclude blanks around it. Text without Markdown is prose. */
export type Block =
  | { kind: 'prose' | 'list' | 'quote' | 'table'; start: number; end: number }
  /** `open` is its fence if it is never closed. */
  | { kind: 'code'; start: number; end: number; open?: Fence }
  | { kind: 'heading'; start: number; end: number; level: number; title: string }

type OpenKind = 'prose' | 'list' | 'quote' | 'table'

interface OpenBlock {
  kind: OpenKind
  start: number
  end: number
  lines: number
  lastLine: number
  /** The end of the last line but one. */
  earlierEnd: number
}

const MAX_TITLE = 200
const MAX_FRONT_MATTER_LINES = 64

/**
 * The blocks of a text in order: every non-blank character is in exactly one. Runs in linear time. `before` is the
 * fence, if any, that an earlier part of the same text left open.
 */
export function* scanBlocks(
  text: string,
  before?: { readonly fence: Fence | undefined },
): Generator<Block> {
  let position = 0
  let open: OpenBlock | undefined
  const beginning = before ? readOpenFence(text, before.fence) : readFrontMatter(text)
  if (beginning) {
    yield beginning.block
    position = beginning.next
  }

  for (let line = readLine(text, position); line; line = readLine(text, position)) {
    const mark = classifyLine(text, line)
    const step = (open && grow(text, open, line, mark)) ?? startBlock(text, open, line, mark)
    yield* step.finished
    open = step.open
    position = step.next ?? line.next
  }
  if (open) yield toBlock(open)
}

/**
 * The effect of a line: the blocks it finishes, the block open after it, and where to read on if not at the next line.
 */
interface Step {
  finished: readonly Block[]
  open?: OpenBlock
  next?: number
}

const NOTHING: readonly Block[] = []
const OPENED_BY = { quote: 'quote', item: 'list', delimiter: 'prose', text: 'prose' } as const

function startBlock(text: string, open: OpenBlock | undefined, line: Line, mark: LineMark): Step {
  const before = open ? [toBlock(open)] : NOTHING
  switch (mark.kind) {
    case 'heading':
      return { finished: [...before, toHeading(text, line, mark.level)] }
    case 'underline':
    case 'rule':
      return { finished: [...before, { kind: 'prose', start: line.start, end: line.end }] }
    case 'fence': {
      const code = readFence(text, line, mark.fence)
      return { finished: [...before, code.block], next: code.next }
    }
    case 'quote':
    case 'item':
    case 'delimiter':
    case 'text':
      return { finished: before, open: begin(OPENED_BY[mark.kind], line) }
  }
}

/**
 * How a line continues the open block: it extends it or changes its kind. Undefined if the line does not belong to it.
 */
function grow(text: string, open: OpenBlock, line: Line, mark: LineMark): Step | undefined {
  switch (mark.kind) {
    case 'underline':
      return toUnderlined(text, open, line, mark.level)
    case 'delimiter':
      return toTable(text, open, line) ?? continued(open, line)
    case 'item':
      if (open.kind === 'list') return extended(open, line)
      return mark.interrupts ? undefined : continued(open, line)
    case 'quote':
      return open.kind === 'quote' ? continued(open, line) : undefined
    case 'text':
      return continuesItem(open, line) ? extended(open, line) : continued(open, line)
    case 'heading':
    case 'rule':
    case 'fence':
      return undefined
  }
}

function continued(open: OpenBlock, line: Line): Step | undefined {
  return line.afterBlankLine ? undefined : extended(open, line)
}

function extended(open: OpenBlock, { start, end }: Line): Step {
  return {
    finished: NOTHING,
    open: { ...open, end, lines: open.lines + 1, lastLine: start, earlierEnd: open.end },
  }
}

/** Further paragraphs of a list item are indented. */
function continuesItem(open: OpenBlock, { indent }: Line): boolean {
  return open.kind === 'list' && indent >= 2
}

/** A line underlined by the next one is a heading; only a single line, so that prose above a rule stays prose. */
function toUnderlined(text: string, open: OpenBlock, line: Line, level: number): Step | undefined {
  if (open.kind !== 'prose' || open.lines > 1 || line.afterBlankLine) return undefined
  if (open.end - open.start > MAX_TITLE) return undefined
  const title = text.slice(open.start, open.end)
  return { finished: [{ kind: 'heading', start: open.start, end: line.end, level, title }] }
}

/** A row of dashes makes the line above it the head of a table. */
function toTable(text: string, open: OpenBlock, line: Line): Step | undefined {
  if (open.kind !== 'prose' || line.afterBlankLine) return undefined
  if (!text.slice(open.lastLine, open.end).includes('|')) return undefined
  const table = { ...begin('table', line), start: open.lastLine }
  if (open.lines === 1) return { finished: NOTHING, open: table }
  const above: Block = { kind: 'prose', start: open.start, end: open.earlierEnd }
  return { finished: [above], open: table }
}

function begin(kind: OpenKind, { start, end }: Line): OpenBlock {
  return { kind, start, end, lines: 1, lastLine: start, earlierEnd: start }
}

function toBlock({ kind, start, end }: OpenBlock): Block {
  return { kind, start, end }
}

function toHeading(text: string, { start, end }: Line, level: number): Block {
  const titleStart = start + level
  const title = text.slice(titleStart, Math.min(end, titleStart + MAX_TITLE))
  return { kind: 'heading', start, end, level, title }
}

/** The rest of a code block that began in an earlier part. */
function readOpenFence(text: string, fence: Fence | undefined) {
  const first = fence && readLine(text, 0)
  if (!first) return undefined
  if (!closesFence(text, first, fence)) return readFence(text, first, fence)
  const block: Block = { kind: 'code', start: first.start, end: first.end }
  return { block, next: first.next }
}

/** A fence that is never closed extends to the end of the text, as in CommonMark. */
function readFence(text: string, opening: Line, fence: Fence): { block: Block; next: number } {
  for (let line = readLine(text, opening.next); line; line = readLine(text, line.next)) {
    if (closesFence(text, line, fence)) {
      return { block: { kind: 'code', start: opening.start, end: line.end }, next: line.next }
    }
  }
  const end = trimEnd(text, opening.end, text.length)
  return { block: { kind: 'code', start: opening.start, end, open: fence }, next: text.length }
}

/** Front matter: settings between two lines of dashes at the start of a text. */
function readFrontMatter(text: string): { block: Block; next: number } | undefined {
  const opening = readLine(text, 0)
  if (!opening || text.slice(opening.start, Math.min(opening.end, opening.start + 4)) !== '---') {
    return undefined
  }
  let position = opening.next
  for (let lines = 0; lines < MAX_FRONT_MATTER_LINES; lines++) {
    const line = readLine(text, position)
    if (!line || line.afterBlankLine) return undefined
    position = line.next
    if (line.end - line.start === 3 && text.startsWith('---', line.start)) {
      return { block: { kind: 'code', start: opening.start, end: line.end }, next: position }
    }
  }
  return undefined
}
