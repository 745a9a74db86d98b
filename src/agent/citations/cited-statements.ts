import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import { createRest, piecesOf, SHORT_PIECE } from '@agent-server/lib/text/slices.ts'
import type { Citation } from '@agent-server/schemas/citation.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { type CitationMark, CitationReader } from '@agent-server/wire'
import type { TermsOf } from './attribution.ts'
import { blocksOf, type Range, sentencesIn } from './sentences.ts'
import { createStatementSupport, type Passage, type Support } from './statement-support.ts'

/** Citations of one answer that are compared with their passages; so many take about five milliseconds. */
const MAX_COMPARED = 200
/** UTF-16 code units before and after a mark, in a long block, in which its sentence is looked for. */
const MAX_SENTENCE = 4_000
/** The part of a sentence between two marks is a separate statement only from this number of words. */
const MIN_WORDS = 3
const WORD = /[\p{L}\p{N}]+/gu
/** Scripts that are written without spaces have no words to be counted. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}]/u

interface CheckOptions {
  termsOf: TermsOf
  isJsonAsked: boolean
  /** Who wrote a mark; asked for one after the other. */
  writerOf: (number: number) => Citation['by']
}

/** A citation, what it is about, and the numbers of the marks that carry it together, in ascending order. */
export interface CitedStatement {
  citation: Citation
  /** Empty if it was not compared. */
  statement: string
  group: readonly number[]
}

/** For the first citations of an answer, in order: how the cited passage supports its statement. Throws the reason of `signal`. */
export async function checkStatements(
  answer: string,
  hits: readonly Hit[],
  { termsOf, isJsonAsked, writerOf }: CheckOptions,
  signal: AbortSignal,
): Promise<CitedStatement[]> {
  const rest = createRest(signal)
  const marks = await marksIn(answer, hits.length, isJsonAsked, rest)
  if (marks.length === 0) return []
  const statementOf = createStatements(answer, marks, rest)
  const compare = createComparison(hits, termsOf)
  const cited: CitedStatement[] = []
  for (const [place, mark] of marks.entries()) {
    await rest()
    const { index: at, number } = mark
    const bare = { at, number, by: writerOf(number), quotes: [] }
    const group = groupOf(place, marks)
    const hit = hits[number - 1]
    const statement = place < MAX_COMPARED ? await statementOf(mark, place) : ''
    if (!hit || statement === '') {
      cited.push({ citation: bare, statement: '', group })
      continue
    }
    const { quotes, isSupported } = compare(statement, number, group)
    const citation = {
      ...bare,
      quotes: quotes.map((quote) => toQuote(hit, quote)),
      ...(isSupported !== undefined && { supported: isSupported }),
    }
    cited.push({ citation, statement, group })
  }
  return cited
}

type Rest = ReturnType<typeof createRest>

async function marksIn(answer: string, count: number, isJsonAsked: boolean, rest: Rest) {
  const reader = new CitationReader(isJsonAsked)
  if (count === 0) return []
  for (const piece of piecesOf(answer, SHORT_PIECE)) {
    if (reader.isFull) break
    reader.write(piece)
    await rest()
  }
  return reader.end(count)
}

const lengthOf = ({ number }: CitationMark) => `[${number}]`.length

/** The numbers of the marks that stand side by side with one, itself included: they carry a statement together. */
function groupOf(place: number, marks: readonly CitationMark[]): number[] {
  const isNext = (one: CitationMark, other: CitationMark | undefined) =>
    one.index + lengthOf(one) === other?.index
  let first = place
  let last = place
  for (let at = marks[first - 1]; at && isNext(at, marks[first]); at = marks[first - 1]) first -= 1
  for (let at = marks[last]; at && isNext(at, marks[last + 1]); at = marks[last]) last += 1
  const numbers = marks.slice(first, last + 1).map(({ number }) => number)
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}

function createComparison(hits: readonly Hit[], termsOf: TermsOf) {
  const passages = new Map<string, ReturnType<typeof createStatementSupport>>()
  const passageOf = (numbers: readonly number[]) => {
    const key = numbers.join()
    const made = passages.get(key) ?? createStatementSupport(joined(hits, numbers), termsOf)
    passages.set(key, made)
    return made
  }
  return (statement: string, number: number, group: readonly number[]): Support => {
    const passage = passageOf([number])(statement)
    if (passage.isSupported === true || group.length === 1) return passage
    const { isSupported } = passageOf(group)(statement)
    return { ...passage, isSupported: isSupported === true || passage.isSupported }
  }
}

function joined(hits: readonly Hit[], numbers: readonly number[]): Passage {
  const cited = numbers.flatMap((number) => hits[number - 1] ?? [])
  return {
    title: cited.map(({ title, heading = '' }) => `${title} ${heading}`).join(' '),
    text: cited.map(({ text }) => text).join('\n\n'),
  }
}

/**
 * The statement that a citation supports: the sentence up to the mark, without what an earlier mark supports, or the
 * row of a table. To be asked for one mark after the other.
 */
function createStatements(answer: string, marks: readonly CitationMark[], rest: Rest) {
  const plain = withoutMarks(answer, marks)
  const blocks = blocksOf(plain)
  let block: Range | undefined
  let next = blocks.next()
  /** The sentences of a block that is read as a whole. */
  let sentences: Range[] | undefined

  return async (mark: CitationMark, place: number): Promise<string> => {
    while (!next.done && next.value.start <= mark.index) {
      block = next.value
      sentences = undefined
      next = blocks.next()
      await rest()
    }
    if (!block) return ''
    const near = nearTo(mark, block)
    if (plain.slice(near.start, near.end).trimStart().startsWith('|')) return textOf(near)
    if (near !== block) return inSentence(mark, place, sentencesIn(plain, near))
    sentences ??= sentencesIn(plain, block)
    return inSentence(mark, place, sentences)
  }

  function inSentence(mark: CitationMark, place: number, sentences: readonly Range[]): string {
    const sentence = sentences.findLast(({ start }) => start < mark.index)
    // A mark in front of its sentence.
    if (!sentence) return textOf(sentences[0])
    const end = Math.min(sentence.end, mark.index)
    const part = textOf({ start: Math.max(sentence.start, lastBefore(mark, place)), end })
    return isStatement(part) ? part : textOf({ start: sentence.start, end })
  }

  function textOf(range: Range | undefined): string {
    return range ? plain.slice(range.start, range.end).trim() : ''
  }

  /** The index of the last mark before one, but for those that stand beside it. */
  function lastBefore(mark: CitationMark, place: number): number {
    const isBeside = (other: CitationMark) => plain.slice(other.index, mark.index).trim() === ''
    let at = place - 1
    for (let other = marks[at]; other && isBeside(other); other = marks[at]) at -= 1
    return marks[at]?.index ?? 0
  }
}

/** The answer with blanks in place of its marks. */
function withoutMarks(answer: string, marks: readonly CitationMark[]): string {
  let plain = ''
  for (const mark of marks) {
    plain += answer.slice(plain.length, mark.index) + ' '.repeat(lengthOf(mark))
  }
  return plain + answer.slice(plain.length)
}

/** The block, or of a long one the part in which the sentence of a mark stands. */
function nearTo({ index }: CitationMark, block: Range): Range {
  if (block.end - block.start <= 2 * MAX_SENTENCE) return block
  return {
    start: Math.max(block.start, index - MAX_SENTENCE),
    end: Math.min(block.end, index + MAX_SENTENCE),
  }
}

function isStatement(text: string): boolean {
  return UNSPACED.test(text) || Array.from(text.matchAll(WORD)).length >= MIN_WORDS
}

/** Offsets are those of the document, where the hit has its text as it stands there. */
function toQuote(hit: Hit, { start, end }: Range): Citation['quotes'][number] {
  const text = hit.text.slice(start, end)
  const isExact = hit.text.length === hit.end - hit.start
  const page = pageAt(hit, isExact ? start : undefined)
  return {
    text,
    ...(isExact && { start: hit.start + start, end: hit.start + end }),
    ...(page !== undefined && { page }),
  }
}

/** The page at an offset into the text of a hit, or that of the whole hit. */
function pageAt({ text, page, pageEnd = page }: Hit, offset: number | undefined) {
  if (page === undefined || pageEnd === page) return page
  if (offset === undefined) return undefined
  return page + text.slice(0, offset).split(PAGE_BREAK).length - 1
}
