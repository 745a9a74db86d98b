/** The backticks or tildes that open a code block; at least as many close it. */
export type Fence = string

export type LineMark =
  | { kind: 'heading'; level: number }
  | { kind: 'underline'; level: number }
  | { kind: 'rule' | 'quote' | 'delimiter' | 'text' }
  | { kind: 'item'; interrupts: boolean }
  | { kind: 'fence'; fence: Fence }

const TEXT: LineMark = { kind: 'text' }

/** CommonMark: a line indented further is neither a heading nor a rule. */
const MAX_INDENT = 3

const BEGINS_MARKUP = /^[#>`~=\-*_|:\d+•◦▪‣●]/
const HEADING = /^(#{1,6})(?:\s|$)/
const BULLET = /^(?:[-*+•◦▪‣●]|(\d{1,9})[.)])(?:\s|$)/

/** Classifies a line by its first characters, after CommonMark and GitHub's tables. */
export function classifyLine(text: string, { start, end, indent }: Line): LineMark {
  const line = text.slice(start, end)
  if (!BEGINS_MARKUP.test(line)) return TEXT
  if (line.startsWith('>')) return { kind: 'quote' }
  const fence = fenceOf(line)
  if (fence) return { kind: 'fence', fence }
  const heading = indent <= MAX_INDENT ? classifyHeading(line) : undefined
  if (heading) return heading
  return isDelimiterRow(line) ? { kind: 'delimiter' } : classifyBullet(line)
}

function classifyHeading(line: string): LineMark | undefined {
  const [, hashes] = HEADING.exec(line) ?? []
  if (hashes) return { kind: 'heading', level: hashes.length }
  if (/^={2,}$/.test(line)) return { kind: 'underline', level: 1 }
  if (/^-{2,}$/.test(line)) return { kind: 'underline', level: 2 }
  return isRule(line) ? { kind: 'rule' } : undefined
}

/** The fence that a line, without white space around it, opens. */
export function fenceOf(line: string): Fence | undefined {
  const [fence] = /^(?:`{3,}|~{3,})/.exec(line) ?? []
  // CommonMark: a backtick after the fence makes it a code span within a paragraph.
  const isSpan = fence?.startsWith('`') && line.includes('`', fence.length)
  return isSpan ? undefined : fence
}

/** Whether a line that begins at `start` begins a list item. */
export function beginsItem(text: string, start: number, end: number): boolean {
  return BULLET.test(text.slice(start, end))
}

/** Only the number 1 interrupts a paragraph: a wrapped line may begin with another without beginning a list. */
function classifyBullet(line: string): LineMark {
  const bullet = BULLET.exec(line)
  return bullet ? { kind: 'item', interrupts: (bullet[1] ?? '1') === '1' } : TEXT
}

/** Three or more of the same character of `-*_`, with or without blanks between them. */
function isRule(line: string): boolean {
  if (!/^[-*_]/.test(line) || /[^-*_\s]/.test(line)) return false
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(line.replaceAll(/\s/g, ''))
}

/** The second row of a table: dashes between bars, with colons for the alignment. */
function isDelimiterRow(line: string): boolean {
  return /^[-|:][-|: \t]*$/.test(line) && line.includes('|') && line.includes('-')
}

/** Whether a line closes the code block that `fence` opened. */
export function closesFence(
  text: string,
  { start, end }: Pick<Line, 'start' | 'end'>,
  fence: Fence,
): boolean {
  return text.startsWith(fence, start) && /^(?:`+|~+)$/.test(text.slice(start, end))
}

/** A line that is not blank. */
export interface Line {
  /** The position of its first non-blank character. */
  start: number
  /** The position after its last non-blank character. */
  end: number
  /** Where the next line begins. */
  next: number
  /** Columns before `start`; a tab counts as four. */
  indent: number
  afterBlankLine: boolean
}

/** The first non-blank line at or after `position`, which must be the start of a line. */
export function readLine(text: string, position: number): Line | undefined {
  const start = indexOf(text, /\S/g, position)
  if (start === text.length) return undefined
  const before = text.slice(position, start)
  const lineStart = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
  const lineBreak = indexOf(text, /[\r\n]/g, start)
  return {
    start,
    end: start + text.slice(start, lineBreak).trimEnd().length,
    next: Math.min(text.length, lineBreak + (text.startsWith('\r\n', lineBreak) ? 2 : 1)),
    indent: before.slice(lineStart).replaceAll('\t', '    ').length,
    afterBlankLine: lineStart > 0,
  }
}

/** The first match of `pattern` from `position` on, or the end of the text. */
function indexOf(text: string, pattern: RegExp, position: number): number {
  pattern.lastIndex = position
  return pattern.exec(text)?.index ?? text.length
}
