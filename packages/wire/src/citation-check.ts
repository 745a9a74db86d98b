import { endsInCodeName } from '@agent-server/lib/markdown/code-names.ts'
import type { Span } from '@agent-server/lib/markdown/code-spans.ts'
import { createRest, piecesOf, SHORT_PIECE } from '@agent-server/lib/text/slices.ts'
import { AnswerScanner } from './answer-code.ts'

/** Influences the output: receives all text and marks in their order. */
interface Attribution {
  text(piece: string): string
  code(piece: string): string
  marks(marks: string): string
  end(isWhole: boolean): string
}

/** The brackets of citations; models trained on others use those of China and Japan. */
const BRACKETS: Readonly<Record<string, string>> = { '[': ']', '【': '】', '［': '］', '〔': '〕' }
const OPENING = /[[\u3010\uff3b\u3014]/
const CLOSED = /[\]\u3011\uff3d\u3015]$/
/** What models write before the number. */
const WORDS = [
  'citation',
  'source',
  'passage',
  'document',
  'doc',
  'reference',
  'ref',
  'cite',
  'hit',
]
/** The inside of a mark so far: the numbers, and the place that some models add after a dagger. */
const INSIDE = /^[ :.#]*[\d ,;\u2013\u2014-]*(?:\u2020[^[\]\n]*)?$/
/** Maximum UTF-16 code units kept of what was shown. */
const MAX_BEFORE = 40

/**
 * Checks each citation in a streamed text against what was retrieved. It holds back only code that is not closed yet,
 * and brackets with numbers that are still open, or that need one more character to be distinguished from a link. The
 * output does not depend on how the text is split into pieces. Code, JSON arrays and links keep their brackets. An
 * attribution, if there is one, gets all text and marks, and decides what is shown.
 */
export class CitationCheck {
  readonly #known: KnownNumbers
  readonly #scanner: AnswerScanner
  readonly #attribution: Attribution | undefined
  /** The brackets that are held back. */
  #pending = ''
  /** The last characters shown. */
  #before = ''
  #isIndex = false

  constructor(known: KnownNumbers, isJsonAsked = false, attribution?: Attribution) {
    this.#known = known
    this.#scanner = new AnswerScanner(isJsonAsked)
    this.#attribution = attribution
  }

  /** Takes the next piece; returns the text that can be shown now. */
  write(piece: string): string {
    return this.#readAll(this.#scanner.write(piece))
  }

  /** Ends the text, which is whole unless it was cut off; returns the rest of it. */
  end(isWhole = true): string {
    const shown = this.#readAll(this.#scanner.end())
    const rest = CLOSED.test(this.#pending) ? this.#settle() : this.#flush()
    return shown + rest + (this.#attribution?.end(isWhole) ?? '')
  }

  #readAll(spans: readonly Span[]): string {
    return spans
      .map(({ text, code }) => (code === 'none' ? this.#readText(text) : this.#readCode(text)))
      .join('')
  }

  #readCode(code: string): string {
    const released = this.#release(code.charAt(0))
    this.#remember(code)
    return released + (this.#repairing?.code(code) ?? code)
  }

  #readText(text: string): string {
    let shown = ''
    for (let at = 0; at < text.length; ) {
      const plain = this.#pending === '' ? (text.slice(at).split(OPENING, 1)[0] ?? '') : ''
      shown += plain === '' ? this.#take(text.charAt(at)) : this.#show(plain)
      at += plain.length || 1
    }
    return shown
  }

  /** Takes a character outside of code; returns the text that can be shown now. */
  #take(character: string): string {
    const released = this.#release(character)
    if (this.#pending !== '') this.#pending += character
    else if (this.#opensMark(character)) this.#pending = character
    else return released + this.#show(character)
    const isReady = !this.#attribution && isSettled(this.#pending, this.#known)
    return isReady ? released + this.#flush() : released
  }

  /** What the next character shows not to become a longer mark. */
  #release(next: string): string {
    if (this.#pending === '' || this.#goesOn(next)) return ''
    return CLOSED.test(this.#pending) && next !== '(' ? this.#settle() : this.#flush()
  }

  /** Whether the held text may still become a citation with the next character. */
  #goesOn(next: string): boolean {
    if (CLOSED.test(this.#pending)) return false
    if (next === BRACKETS[this.#pending.charAt(0)]) return isCitationMark(this.#pending + next)
    return this.#pending.length < MAX_MARK && mayBecomeMark(this.#pending.slice(1) + next)
  }

  /** Whether a bracket begins a mark: not after a name in code, nor does a number in others begin a line, as of a heading. */
  #opensMark(character: string): boolean {
    if (character === '[') return !this.#continuesName()
    return character in BRACKETS && !/(?:^|\n)[\s>*#+-]*$/.test(this.#before)
  }

  #continuesName(): boolean {
    this.#isIndex = endsInCodeName(this.#before) || (this.#isIndex && this.#before.endsWith(']'))
    return this.#isIndex
  }

  #settle(): string {
    const settled = settleMark(this.#pending, this.#known, this.#before.endsWith(']'))
    this.#pending = ''
    if (!settled.startsWith('[')) return this.#show(settled)
    this.#remember(settled)
    return this.#repairing?.marks(settled) ?? settled
  }

  #flush(): string {
    const text = this.#pending
    this.#pending = ''
    return this.#show(text)
  }

  #show(text: string): string {
    this.#remember(text)
    return this.#repairing?.text(text) ?? text
  }

  /** The attribution, where it has a say. */
  get #repairing(): Attribution | undefined {
    return this.#scanner.isMarkdown ? this.#attribution : undefined
  }

  #remember(text: string): void {
    this.#before = (this.#before.slice(-MAX_BEFORE) + text.slice(-MAX_BEFORE)).slice(-MAX_BEFORE)
  }
}

/** Maximum UTF-16 code units of a mark; anything longer is not a citation. */
const MAX_MARK = 200
/** Placeholder for a mark; does not occur in messages. */
const NO_MARK = '\u0000'
const NUMBERED_MARK = new RegExp(`${NO_MARK}(\\d+)${NO_MARK}`, 'g')
const MARKS = new RegExp(`(?<! ) *(?:${NO_MARK}|\\[\\?\\])+`, 'g')
/** Maximum numbers in a range such as `[2-9]`; a wider one is not a citation. */
const MAX_RANGE = 50
/** Longer unknown numbers are years and the like, not citations. */
const MAX_DIGITS = 3
const ITEM = /^(\d+)(?: ?[-\u2013\u2014] ?(\d+))?$/

/** Replaces a citation of an unknown number. */
const UNKNOWN_MARK = '[?]'

interface KnownNumbers {
  /** Whether a hit of the run has the number. */
  has(number: number): boolean
  /** Called with each cited number that no hit has. */
  onUnknown(number: number): unknown
  /** What is shown for a known number; by default the number in brackets. */
  mark?(number: number): string
}

/** Whether more may make a mark of this, the inside of brackets so far. */
function mayBecomeMark(inside: string): boolean {
  const [, word = '', rest = ''] = /^([A-Za-z]*)(.*)$/s.exec(inside) ?? []
  const name = word.toLowerCase().replace(/s$/, '')
  if (word === '') return INSIDE.test(rest)
  return rest === ''
    ? WORDS.some((each) => each.startsWith(name))
    : WORDS.includes(name) && INSIDE.test(rest)
}

/** Whether the brackets contain numbers in a form in which models cite: `[1]`, `[1, 2]`, `[1-3]`. */
function isCitationMark(mark: string): boolean {
  return numbersIn(mark) !== undefined
}

/** Whether a mark is already in its final form. */
function isSettled(mark: string, known: Pick<KnownNumbers, 'has' | 'mark'>): boolean {
  return !known.mark && /^\[\d+\]$/.test(mark) && known.has(Number(mark.slice(1, -1)))
}

/**
 * A mark as it is shown: known numbers as `[1][2]`, unknown ones as `[?]`. An unknown number with more than
 * `MAX_DIGITS` digits, and a list without any known number, are data rather than citations: their square brackets
 * become round ones, unless the mark is attached to a bracket, where round ones would make a link.
 */
function settleMark(mark: string, known: KnownNumbers, isAttached: boolean): string {
  const numbers = numbersIn(mark) ?? []
  const cited = numbers.filter((number) => known.has(number))
  noteUnknown(numbers, known)
  if (cited.length > 0) {
    const marks = cited.map(known.mark ?? ((number) => `[${number}]`)).join('')
    return cited.length < numbers.length ? marks + UNKNOWN_MARK : marks
  }
  const isLong = numbers.some((number) => String(number).length > MAX_DIGITS)
  if (isLong && !mark.startsWith('[')) return mark
  return (isLong || numbers.length > 1) && !isAttached ? `(${mark.slice(1, -1)})` : UNKNOWN_MARK
}

function noteUnknown(numbers: readonly number[], known: KnownNumbers): void {
  for (const number of numbers) {
    if (!known.has(number) && String(number).length <= MAX_DIGITS) known.onUnknown(number)
  }
}

/** The numbers of a mark; undefined if it is not a citation. A list with a zero, like `[0, 1]`, is not a citation. */
function numbersIn(mark: string): number[] | undefined {
  const [inside = ''] = mark.slice(1, -1).split('\u2020')
  const items = inside
    .replace(/^[A-Za-z]*[ :.#]*/, '')
    .split(/[,;]/)
    .map((item) => expand(item.trim()))
  const numbers = items.flatMap((item) => item ?? [])
  if (items.includes(undefined) || (numbers.length > 1 && numbers.includes(0))) return undefined
  return numbers
}

function expand(item: string): number[] | undefined {
  const [, first, last] = ITEM.exec(item) ?? []
  if (first === undefined) return undefined
  if (last === undefined) return [Number(first)]
  const length = Number(last) - Number(first) + 1
  if (length < 2 || length > MAX_RANGE) return undefined
  return Array.from({ length }, (_, index) => Number(first) + index)
}

/** The most citations of one answer that are reported; nobody follows more. */
const MAX_CITATIONS = 4_000
/** No run has as many hits: numbers above, such as years in other brackets, are left as they are. */
const MAX_CITED = 999

/** A citation in an answer: its number, and the index at which its mark begins. */
export interface CitationMark {
  number: number
  index: number
}

/** Finds the citations in an already checked text, which comes in pieces. */
export class CitationReader {
  readonly #check: CitationCheck
  readonly #marks: CitationMark[] = []
  #length = 0

  constructor(isJsonAsked: boolean) {
    const known = {
      has: (number: number) => number > 0 && number <= MAX_CITED,
      onUnknown: () => undefined,
      // Must be as long as the mark, so that indexes stay the same.
      mark: (number: number) => `${NO_MARK}${number}${NO_MARK}`,
    }
    this.#check = new CitationCheck(known, isJsonAsked)
  }

  /** Whether that many are reported already. */
  get isFull(): boolean {
    return this.#marks.length >= MAX_CITATIONS
  }

  write(piece: string): void {
    if (!this.isFull) this.#read(this.#check.write(piece))
  }

  /** Ends the text: its first citations, in order, of `count` hits. */
  end(count: number): CitationMark[] {
    if (!this.isFull) this.#read(this.#check.end())
    return this.#marks.slice(0, MAX_CITATIONS).filter(({ number }) => number <= count)
  }

  #read(text: string): void {
    for (const { 1: number, index } of text.matchAll(NUMBERED_MARK)) {
      this.#marks.push({ number: Number(number), index: this.#length + index })
    }
    this.#length += text.length
  }
}

/**
 * Removes the citations of an earlier answer, whose numbers belong to another run. Code keeps its brackets. Others have
 * their turn meanwhile: a client sends answers as long as it likes. Throws the reason of `signal`.
 */
export async function withoutCitations(text: string, signal: AbortSignal): Promise<string> {
  if (!OPENING.test(text)) return text
  const has = (number: number) => String(number).length <= MAX_DIGITS
  const check = new CitationCheck({ has, onUnknown: () => undefined, mark: () => NO_MARK })
  const rest = createRest(signal)
  let unmarked = ''
  for (const piece of piecesOf(text, SHORT_PIECE)) {
    unmarked += check.write(piece)
    await rest()
  }
  return (unmarked + check.end()).replaceAll(MARKS, '')
}
