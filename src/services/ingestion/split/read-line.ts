import {
  blankWidth,
  CARRIAGE_RETURN,
  isBlank,
  isLineBreak,
  LINE_FEED,
  trimEnd,
} from './characters.ts'

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
