import {
  blankWidth,
  CARRIAGE_RETURN,
  isBlank,
  isDigit,
  isLineBreak,
  LINE_FEED,
  trimEnd,
} from './characters.ts'

/** What begins a block of code, and in that length or more ends it. */
export interface Fence {
  code: number
  length: number
}

export type LineMark =
  | { kind: 'heading'; level: number; markerLength: number }
  | { kind: 'underline'; level: number }
  | { kind: 'rule' | 'quote' | 'delimiter' | 'text' }
  | { kind: 'item'; interrupts: boolean }
  | ({ kind: 'fence' } & Fence)

const TEXT: LineMark = { kind: 'text' }
const QUOTE: LineMark = { kind: 'quote' }
const RULE: LineMark = { kind: 'rule' }
const DELIMITER: LineMark = { kind: 'delimiter' }
const ITEM: LineMark = { kind: 'item', interrupts: true }
const LATER_ITEM: LineMark = { kind: 'item', interrupts: false }

const MAX_HEADING_LEVELS = 6
const MAX_NUMBER_DIGITS = 9
const MIN_FENCE = 3
/** CommonMark: indented further, a line is no heading and no rule. */
const MAX_INDENT = 3

/** What the first characters of a line make of it, after CommonMark and the tables of GitHub. */
export function classifyLine(text: string, line: Line): LineMark {
  switch (text.charAt(line.start)) {
    case '#':
      return line.indent <= MAX_INDENT ? classifyHashes(text, line) : TEXT
    case '>':
      return QUOTE
    case '`':
    case '~':
      return classifyFence(text, line)
    case '=':
      return isRunOf(text, line, '=') ? { kind: 'underline', level: 1 } : TEXT
    case '-':
      return classifyDashes(text, line)
    case '*':
    case '_':
      return isRule(text, line) ? RULE : classifyBullet(text, line)
    case '|':
    case ':':
      return isDelimiterRow(text, line) ? DELIMITER : TEXT
    default:
      return classifyBullet(text, line)
  }
}

/** Whether a line that begins at `start` begins an item of a list. */
export function beginsItem(text: string, start: number, end: number): boolean {
  return bulletOf(text, start, end) !== undefined
}

function classifyHashes(text: string, { start, end }: Line): LineMark {
  const level = runLength(text, start, Math.min(end, start + MAX_HEADING_LEVELS + 1))
  if (level > MAX_HEADING_LEVELS) return TEXT
  const isHeading = start + level === end || isBlank(text.charCodeAt(start + level))
  return isHeading ? { kind: 'heading', level, markerLength: level } : TEXT
}

function classifyFence(text: string, { start, end }: Line): LineMark {
  const length = runLength(text, start, end)
  if (length < MIN_FENCE) return TEXT
  // CommonMark: a backtick after the fence makes it a code span within a paragraph.
  if (text[start] === '`' && text.slice(start + length, end).includes('`')) return TEXT
  return { kind: 'fence', code: text.charCodeAt(start), length }
}

function classifyDashes(text: string, line: Line): LineMark {
  if (isRunOf(text, line, '-')) return { kind: 'underline', level: 2 }
  if (isRule(text, line)) return RULE
  return isDelimiterRow(text, line) ? DELIMITER : classifyBullet(text, line)
}

function classifyBullet(text: string, { start, end }: Line): LineMark {
  const bullet = bulletOf(text, start, end)
  if (!bullet) return TEXT
  return bullet === 'first' ? ITEM : LATER_ITEM
}

/** `later` for a number past one: a wrapped line may begin with a number without beginning a list. */
function bulletOf(text: string, start: number, end: number): 'first' | 'later' | undefined {
  const code = text.charCodeAt(start)
  if (isDigit(code)) return numberBulletOf(text, start, end)
  if (!'-*+•◦▪‣●'.includes(text.charAt(start))) return undefined
  return endsMarker(text, start + 1, end) ? 'first' : undefined
}

function numberBulletOf(text: string, start: number, end: number): 'first' | 'later' | undefined {
  let index = start
  while (index < end && index - start < MAX_NUMBER_DIGITS && isDigit(text.charCodeAt(index))) {
    index++
  }
  if (text[index] !== '.' && text[index] !== ')') return undefined
  if (!endsMarker(text, index + 1, end)) return undefined
  return index - start === 1 && text[start] === '1' ? 'first' : 'later'
}

function endsMarker(text: string, index: number, end: number): boolean {
  return index >= end || isBlank(text.charCodeAt(index))
}

/** How often the character at `start` stands there in a row. */
function runLength(text: string, start: number, end: number): number {
  const code = text.charCodeAt(start)
  let index = start + 1
  while (index < end && text.charCodeAt(index) === code) index++
  return index - start
}

function isRunOf(text: string, { start, end, indent }: Line, character: string): boolean {
  if (indent > MAX_INDENT || end - start < 2 || text[start] !== character) return false
  return runLength(text, start, end) === end - start
}

/** Three or more of one of `-*_`, blanks between them or not. */
function isRule(text: string, { start, end, indent }: Line): boolean {
  if (indent > MAX_INDENT) return false
  const marker = text.charCodeAt(start)
  let markers = 0
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index)
    if (code === marker) markers++
    else if (!isBlank(code)) return false
  }
  return markers >= 3
}

/** The second row of a table: dashes between bars, with colons for the alignment. */
function isDelimiterRow(text: string, { start, end }: Line): boolean {
  let bars = 0
  let dashes = 0
  for (let index = start; index < end; index++) {
    const character = text[index]
    if (character === '|') bars++
    else if (character === '-') dashes++
    else if (character !== ':' && character !== ' ' && character !== '\t') return false
  }
  return bars > 0 && dashes > 0
}

/** Whether `line` closes a fence of `length` characters `code`. */
export function closesFence(text: string, line: Line, fence: Fence): boolean {
  if (text.charCodeAt(line.start) !== fence.code) return false
  const length = runLength(text, line.start, line.end)
  return length >= fence.length && line.start + length === line.end
}

/** A line that holds something. */
export interface Line {
  /** Of its first character that is not blank. */
  start: number
  /** After its last character that is not blank. */
  end: number
  /** Where the next line begins. */
  next: number
  /** Columns before `start`, a tab counting four. */
  indent: number
  afterBlankLine: boolean
}

/** The first line at or after `position` (which begins a line) that is not blank. */
export function readLine(text: string, position: number): Line | undefined {
  let start = position
  let indent = 0
  let afterBlankLine = false
  for (; start < text.length; start++) {
    const code = text.charCodeAt(start)
    if (!isBlank(code)) break
    if (isLineBreak(code)) {
      afterBlankLine = true
      indent = 0
    } else indent += blankWidth(code)
  }
  if (start >= text.length) return undefined

  const lineBreak = findLineBreak(text, start)
  const end = trimEnd(text, start, lineBreak)
  return { start, end, next: afterLineBreak(text, lineBreak), indent, afterBlankLine }
}

function findLineBreak(text: string, start: number): number {
  let index = start
  while (index < text.length && !isLineBreak(text.charCodeAt(index))) index++
  return index
}

function afterLineBreak(text: string, lineBreak: number): number {
  const isPair =
    text.charCodeAt(lineBreak) === CARRIAGE_RETURN && text.charCodeAt(lineBreak + 1) === LINE_FEED
  return Math.min(text.length, lineBreak + (isPair ? 2 : 1))
}
