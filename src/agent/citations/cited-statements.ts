import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import type { Citation } from '@agent-server/schemas/chat.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { citationsIn } from '@agent-server/wire'
import type { TermsOf } from './attribution.ts'
import { blocksOf, type Range, sentencesIn } from './sentences.ts'
import { createStatementSupport, type Passage, type Support } from './statement-support.ts'

type Mark = ReturnType<typeof citationsIn>[number]

/** Citations of one answer that are compared with their passages; so many take about five milliseconds. */
const MAX_COMPARED = 200
/** The part of a sentence between two marks is a separate statement only from this number of words. */
const MIN_WORDS = 3
const WORD = /[\p{L}\p{N}]+/gu
/** Scripts that are written without spaces have no words to be counted. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}]/u

/** For each citation of an answer, in order: how the cited passage supports its statement. */
export function checkStatements(
  answer: string,
  hits: readonly Hit[],
  { termsOf, isJsonAsked }: { termsOf: TermsOf; isJsonAsked: boolean },
): Citation[] {
  const marks = citationsIn(answer, hits.length, isJsonAsked)
  if (marks.length === 0) return []
  const statementOf = createStatements(answer, marks)
  const compare = createComparison(hits, termsOf)
  return marks.map((mark, place) => {
    const bare = { at: mark.index, number: mark.number, quotes: [] }
    const hit = hits[mark.number - 1]
    const statement = place < MAX_COMPARED ? statementOf(mark) : ''
    if (!hit || statement === '') return bare
    const { quotes, isSupported } = compare(statement, mark.number, groupOf(mark, marks))
    return {
      ...bare,
      quotes: quotes.map((quote) => toQuote(hit, quote)),
      ...(isSupported !== undefined && { supported: isSupported }),
    }
  })
}

const lengthOf = ({ number }: Mark) => `[${number}]`.length

/** The numbers of the marks that stand side by side with one, itself included: they carry a statement together. */
function groupOf(mark: Mark, marks: readonly Mark[]): number[] {
  const isNext = (one: Mark, other: Mark | undefined) => one.index + lengthOf(one) === other?.index
  let first = marks.indexOf(mark)
  let last = first
  for (let at = marks[first - 1]; at && isNext(at, marks[first]); at = marks[first - 1]) first -= 1
  for (let at = marks[last]; at && isNext(at, marks[last + 1]); at = marks[last]) last += 1
  return marks.slice(first, last + 1).map(({ number }) => number)
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
    const { isSupported } = passageOf([...new Set(group)].toSorted((a, b) => a - b))(statement)
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
 * row of a table.
 */
function createStatements(answer: string, marks: readonly Mark[]) {
  const characters = answer.split('')
  for (const mark of marks) characters.fill(' ', mark.index, mark.index + lengthOf(mark))
  const plain = characters.join('')
  const blocks = blocksOf(plain)
  const segmented = new Map<Range, Range[]>()
  const sentencesOf = (block: Range) => {
    const sentences = segmented.get(block) ?? sentencesIn(plain, block)
    segmented.set(block, sentences)
    return sentences
  }

  return (mark: Mark): string => {
    const block = blocks.findLast(({ start }) => start <= mark.index)
    if (!block) return ''
    if (plain.slice(block.start, block.end).trimStart().startsWith('|')) return textOf(block)
    const sentences = sentencesOf(block)
    const sentence = sentences.findLast(({ start }) => start < mark.index)
    // A mark in front of its sentence.
    if (!sentence) return textOf(sentences[0])
    const end = Math.min(sentence.end, mark.index)
    const before = marks.findLast((other) => other.index < mark.index && !isBeside(other, mark))
    const part = textOf({ start: Math.max(sentence.start, before?.index ?? 0), end })
    return isStatement(part) ? part : textOf({ start: sentence.start, end })
  }

  function textOf(range: Range | undefined): string {
    return range ? plain.slice(range.start, range.end).trim() : ''
  }

  /** Whether there are only marks between two of them. */
  function isBeside(one: Mark, other: Mark): boolean {
    return plain.slice(one.index, other.index).trim() === ''
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
