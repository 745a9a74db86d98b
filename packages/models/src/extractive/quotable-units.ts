import { segmentSentences } from '@agent-server/lib/text/sentences.ts'

/** A piece of a chunk that makes sense when quoted by itself. */
export interface Unit {
  /** Index of its chunk in the list, from 0. */
  chunk: number
  /** Index within the chunk, from 0. */
  position: number
  kind: 'sentence' | 'item' | 'code'
  /** Plain Markdown of one paragraph; empty for code without an introduction. */
  text: string
  /** The lines of a code block that belongs to it. */
  code: readonly string[]
  /** The heading and introduction above it: matched but not shown. */
  context: string
}

/** Longer texts are cut: this bounds the work and is far above the size of a chunk. */
const MAX_CHARACTERS = 16_000
const MAX_UNITS = 200
/** Length up to which list items are appended to their introduction. */
const MAX_LISTED_CHARACTERS = 300

const FENCE = /^\s*(?:```|~~~)/
const HEADING = /^\s{0,3}#{1,6}\s(.*)$/s
const UNDERLINE = /^\s{0,3}(?:=+|-{2,})\s*$/
const ITEM = /^\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+(.*)$/s
const ROW = /^\s*\|(.+)\|\s*$/
const RULED_ROW = /^[\s|:-]+$/
const QUOTE_MARK = /^\s*>\s?/
const INTRODUCES = /[:\uff1a]\s*$/

const LONG_SENTENCE = 400
const CLAUSE_END = /(?<=[.!?;]\s)|(?<=[\u3002\uff01\uff1f])/u
const LONG_PIECE = /.{1,400}(?:\s|$)|.{1,400}/gsu

/** Splits a chunk of Markdown or plain text into quotable units, in reading order. */
export function quotableUnits(chunk: number, text: string): Unit[] {
  const units: Unit[] = []
  const lines = text.slice(0, MAX_CHARACTERS).split(/\r?\n/)
  const state: State = {
    chunk,
    units,
    heading: '',
    introduction: undefined,
    paragraph: [],
    columns: undefined,
    code: undefined,
  }
  for (const line of lines) readLine(state, line)
  endCode(state)
  endParagraph(state)
  return units.slice(0, MAX_UNITS)
}

interface State {
  chunk: number
  units: Unit[]
  heading: string
  /** The last sentence, if it ends in a colon and what it introduces may follow. */
  introduction: Unit | undefined
  paragraph: string[]
  /** The header of the current table. */
  columns: string[] | undefined
  /** The lines of the current code block. */
  code: string[] | undefined
}

function readLine(state: State, raw: string): void {
  const isFence = FENCE.test(raw)
  if (isFence && state.code) endCode(state)
  else if (isFence) startCode(state)
  else if (state.code) state.code.push(raw)
  else readProse(state, raw.replace(QUOTE_MARK, ''))
}

function readProse(state: State, line: string): void {
  const heading = HEADING.exec(line)?.[1]
    ?.trim()
    .replace(/(?<!#)#+$/, '')
    .trimEnd()
  const item = ITEM.exec(line)?.[1]
  const row = ROW.exec(line)?.[1]
  if (row === undefined) state.columns = undefined
  if (heading !== undefined) startSection(state, heading)
  else if (UNDERLINE.test(line) && state.paragraph.length === 1) {
    startSection(state, state.paragraph.pop() ?? '')
  } else if (item !== undefined) addItem(state, item)
  else if (row !== undefined) addRow(state, row)
  else if (line.trim() === '') endParagraph(state)
  else state.paragraph.push(line.trim())
}

function startSection(state: State, heading: string): void {
  endParagraph(state)
  state.heading = heading
  state.introduction = undefined
}

function addItem(state: State, item: string): void {
  endParagraph(state)
  const { introduction } = state
  const unit = addUnit(state, 'item', item.trim())
  if (!introduction || introduction.text.length > MAX_LISTED_CHARACTERS) return
  unit.context += ` ${introduction.text}`
  introduction.text += `${INTRODUCES.test(introduction.text) ? ' ' : '; '}${unit.text}`
  state.introduction = introduction
}

function addRow(state: State, row: string): void {
  endParagraph(state)
  const cells = row.split('|').map((cell) => cell.trim())
  if (!state.columns) state.columns = cells
  else if (!RULED_ROW.test(row)) addUnit(state, 'item', describeRow(state.columns, cells))
}

function describeRow(columns: readonly string[], cells: readonly string[]): string {
  const labelled = cells.map((cell, index) => [columns[index], cell].filter(Boolean).join(': '))
  return labelled.filter((_, index) => cells[index] !== '').join(', ')
}

function startCode(state: State): void {
  endParagraph(state)
  state.code = []
}

function endCode(state: State): void {
  const { code, introduction } = state
  state.code = undefined
  if (!code || code.every((line) => line.trim() === '')) return
  if (introduction && introduction.code.length === 0) introduction.code = code
  else addUnit(state, 'code', '').code = code
  state.introduction = undefined
}

function endParagraph(state: State): void {
  const paragraph = state.paragraph.join(' ')
  state.paragraph = []
  if (paragraph === '') return
  const sentences = segmentSentences(paragraph).flatMap(partsOf)
  for (const text of sentences.map((each) => each.trim()).filter(Boolean)) {
    const unit = addUnit(state, 'sentence', text)
    state.introduction = INTRODUCES.test(text) ? unit : undefined
  }
}

/** Splits overlong sentences, which occur in text without capitals or full stops. */
function partsOf(sentence: string): string[] {
  if (sentence.length <= LONG_SENTENCE) return [sentence]
  return sentence.split(CLAUSE_END).flatMap((part) => part.match(LONG_PIECE) ?? [])
}

function addUnit(state: State, kind: Unit['kind'], text: string): Unit {
  const { chunk, units, heading } = state
  const unit: Unit = { chunk, position: units.length, kind, text, code: [], context: heading }
  units.push(unit)
  state.introduction = undefined
  return unit
}
