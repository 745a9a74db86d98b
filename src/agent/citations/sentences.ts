import { segmentSentences } from '@agent-server/lib/text/sentences.ts'

/** A part of a text, in UTF-16 code units. */
export interface Range {
  start: number
  end: number
}

/** A line that is a block of its own: a heading, a row of a table, an item of a list, a quotation. */
const OWN_BLOCK = /^\s*(?:#{1,6}\s|\||>|[-*+•]\s|\d{1,3}[.)]\s)/
const HEADING_OR_ROW = /^\s*(?:#{1,6}\s|\|)/
/** UTF-16 code units of a block, but for its last line. */
const MAX_BLOCK = 65_536
const LIST_MARK = /^\s*(?:[-*+•>]|\d{1,3}[.)])\s+/

/** The sentences of a text in Markdown, also over the ends of lines; rows of tables count as sentences. */
export function sentencesOf(text: string): Range[] {
  return [...blocksOf(text)].flatMap((block) => sentencesIn(text, block))
}

/** The sentences of one block of a text, without the mark of a list item. */
export function sentencesIn(text: string, { start, end }: Range): Range[] {
  const block = text.slice(start, end)
  if (HEADING_OR_ROW.test(block)) return trimmed(text, { start, end })
  const mark = LIST_MARK.exec(block)?.[0].length ?? 0
  let from = start + mark
  // To the segmenter, the end of a line is the end of a sentence.
  return segmentSentences(block.slice(mark).replaceAll('\n', ' ')).flatMap((sentence) => {
    const range = { start: from, end: from + sentence.length }
    from = range.end
    return trimmed(text, range)
  })
}

/** Paragraphs, headings, rows of tables, and items of lists; of a paragraph that has no end, parts. */
export function* blocksOf(text: string): Generator<Range> {
  let open: Range | undefined
  for (const line of linesOf(text)) {
    const written = text.slice(line.start, line.end)
    if (open && !goesOn(open, line, written)) {
      yield open
      open = undefined
    }
    if (open) open.end = line.end
    else if (written.trim() !== '') open = line
    if (open && HEADING_OR_ROW.test(written)) {
      yield open
      open = undefined
    }
  }
  if (open) yield open
}

function goesOn(block: Range, { end }: Range, line: string): boolean {
  return line.trim() !== '' && !OWN_BLOCK.test(line) && end - block.start <= MAX_BLOCK
}

/** The lines of a text; of adjacent blank ones, the first. */
function* linesOf(text: string): Generator<Range> {
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next
    yield { start, end }
    start = text.slice(start, end).trim() === '' ? nextLine(text, end) : end + 1
  }
}

/** Where the first line begins, from an offset on, that is not blank; the end of the text if there is none. */
function nextLine(text: string, offset: number): number {
  const word = /\S/g
  word.lastIndex = offset
  const match = word.exec(text)
  return match ? text.lastIndexOf('\n', match.index) + 1 : text.length
}

/** The range without white space at its ends; nothing if it has no words. */
function trimmed(text: string, { start, end }: Range): Range[] {
  const part = text.slice(start, end)
  const from = start + part.length - part.trimStart().length
  const to = start + part.trimEnd().length
  return /[\p{L}\p{N}]/u.test(part) ? [{ start: from, end: to }] : []
}
