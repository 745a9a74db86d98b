import { segmentSentences } from '@agent-server/lib/text/sentences.ts'

/** A part of a text, in UTF-16 code units. */
export interface Range {
  start: number
  end: number
}

/** A line that is a block of its own: a heading, a row of a table, an item of a list, a quotation. */
const OWN_BLOCK = /^\s*(?:#{1,6}\s|\||>|[-*+•]\s|\d{1,3}[.)]\s)/
const HEADING_OR_ROW = /^\s*(?:#{1,6}\s|\|)/
const LIST_MARK = /^\s*(?:[-*+•>]|\d{1,3}[.)])\s+/

/** The sentences of a text in Markdown, also over the ends of lines; rows of tables count as sentences. */
export function sentencesOf(text: string): Range[] {
  return blocksOf(text).flatMap((block) => sentencesIn(text, block))
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

/** Paragraphs, headings, rows of tables, and items of lists. */
export function blocksOf(text: string): Range[] {
  const blocks: Range[] = []
  let last: Range | undefined
  let start = 0
  for (const line of text.split('\n')) {
    const range = { start, end: start + line.length }
    start = range.end + 1
    if (line.trim() === '') last = undefined
    else if (last && !OWN_BLOCK.test(line)) last.end = range.end
    else {
      blocks.push(range)
      last = HEADING_OR_ROW.test(line) ? undefined : range
    }
  }
  return blocks
}

/** The range without white space at its ends; nothing if it has no words. */
function trimmed(text: string, { start, end }: Range): Range[] {
  const part = text.slice(start, end)
  const from = start + part.length - part.trimStart().length
  const to = start + part.trimEnd().length
  return /[\p{L}\p{N}]/u.test(part) ? [{ start: from, end: to }] : []
}
