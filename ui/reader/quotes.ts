/** A part of a text, in UTF-16 code units. */
export interface Range {
  start: number
  end: number
}

/** Quotes of one citation. */
const MAX_QUOTES = 3
/** Against the best sentence; one that shares less with the statement does not carry it. */
const MIN_SHARE_OF_BEST = 0.75

const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })
/** A line that is a block of its own: a heading, a row of a table, an item of a list, a quotation. */
const OWN_BLOCK = /^\s*(?:#{1,6}\s|\||>|[-*+•]\s|\d{1,3}[.)]\s)/
const HEADING_OR_ROW = /^\s*(?:#{1,6}\s|\|)/

/**
 * The sentences of a passage that say what a statement says, in the order of the passage: those that share most words
 * with it, each word counted by how few sentences have it. None where nothing is shared, as between two languages.
 */
export function quotesFor(statement: string, passage: string): Range[] {
  const sentences = sentencesOf(passage).map((range) => ({
    range,
    words: wordsOf(passage.slice(range.start, range.end)),
  }))
  const asked = wordsOf(statement)
  const holders = (word: string) => sentences.filter(({ words }) => words.has(word)).length
  const weights = new Map([...asked].map((word) => [word, 1 / holders(word)]))
  const scored = sentences.map(({ range, words }) => {
    const shared = [...words].filter((word) => asked.has(word))
    return { range, score: shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) }
  })
  const best = Math.max(0, ...scored.map(({ score }) => score))
  if (best === 0) return []
  return scored
    .filter(({ score }) => score >= best * MIN_SHARE_OF_BEST)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_QUOTES)
    .map(({ range }) => range)
    .toSorted((a, b) => a.start - b.start)
}

/** The sentences of a text in Markdown, also over the ends of lines; rows of tables count as sentences. */
export function sentencesOf(text: string): Range[] {
  return blocksOf(text).flatMap(({ start, end }) => {
    const block = text.slice(start, end)
    if (HEADING_OR_ROW.test(block)) return trimmed(text, { start, end })
    // To the segmenter, the end of a line is the end of a sentence.
    const parts = SENTENCES.segment(block.replaceAll('\n', ' '))
    return Array.from(parts).flatMap(({ index, segment }) => {
      const from = start + index
      return trimmed(text, { start: from, end: from + segment.length })
    })
  })
}

function blocksOf(text: string): Range[] {
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

function trimmed(text: string, { start, end }: Range): Range[] {
  const part = text.slice(start, end)
  const from = start + part.length - part.trimStart().length
  const to = start + part.trimEnd().length
  return /[\p{L}\p{N}]/u.test(part) ? [{ start: from, end: to }] : []
}

/** Short ones are left out, except numbers and those of scripts without spaces. */
function wordsOf(text: string): Set<string> {
  const words = Array.from(WORDS.segment(text.toLowerCase()))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment)
  return new Set(words.filter((word) => word.length > 2 || /[\p{N}\p{Lo}]/u.test(word)))
}
