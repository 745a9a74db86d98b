import { createAnswerCode } from './answer-code.ts'

export type CitationCheck = ReturnType<typeof createCitationCheck>

/** An index directly after a name that only code has, such as `a[3]` or `row_sum[0]`. */
const CODE_NAME = /(?:^|[^\p{L}\p{N}_])(?:[a-z]|\w*_\w*)$/u
const WITHIN_MARK = /[\d ,;\u2013\u2014-]/
/** UTF-16 code units of a name that are looked at. */
const MAX_NAME = 40

/**
 * Takes a text that comes in pieces, and checks each citation in it against what was retrieved. It holds back only a
 * bracket with numbers that is still open, or that needs one more character to be distinguished from a link. What is
 * shown does not depend on how the text is cut into pieces. Code, lists in JSON and links keep their brackets.
 */
export function createCitationCheck(known: KnownNumbers, isJsonAsked = false) {
  const code = createAnswerCode(isJsonAsked)
  let held = ''
  /** The end of what was shown. */
  let before = ''
  let isIndex = false

  return {
    /** Takes the next piece; answers what can be shown of the text by now. */
    write(piece: string): string {
      let shown = ''
      for (let at = 0; at < piece.length; ) {
        const plain = held === '' ? plainText(piece, at) : ''
        shown += plain === '' ? take(piece.charAt(at)) : show(plain)
        at += plain.length || 1
      }
      return shown
    },
    /** The rest of the text. */
    end: (): string => (held.endsWith(']') ? settle() : flush()),
  }

  /** What of the text, from `at` on, is shown as it is and changes nothing. */
  function plainText(text: string, at: number): string {
    const passed = text.slice(at, code.pass(text, at))
    const bracket = passed.indexOf('[')
    return bracket === -1 ? passed : passed.slice(0, bracket)
  }

  /** Answers what can be shown now that `character` has come. */
  function take(character: string): string {
    const isCode = code.take(character)
    const released = release(character)
    if (held !== '') held += character
    else if (character === '[' && !isCode && !continuesName()) held = character
    else return released + show(character)
    return isSettled(held, known) ? released + flush() : released
  }

  function release(next: string): string {
    if (held === '' || goesOn(next)) return ''
    return held.endsWith(']') && next !== '(' ? settle() : flush()
  }

  /** Whether what is held may become a citation with the next character. */
  function goesOn(next: string): boolean {
    if (held.endsWith(']')) return false
    if (next === ']') return isCitationMark(held + next)
    return held.length < MAX_MARK && WITHIN_MARK.test(next)
  }

  function continuesName(): boolean {
    isIndex = CODE_NAME.test(before) || (isIndex && before.endsWith(']'))
    return isIndex
  }

  function settle(): string {
    const mark = held
    held = ''
    return show(settleMark(mark, known, before.endsWith(']')))
  }

  function flush(): string {
    const text = held
    held = ''
    return show(text)
  }

  function show(text: string): string {
    before = (before.slice(-MAX_NAME) + text.slice(-MAX_NAME)).slice(-MAX_NAME)
    return text
  }
}

/** UTF-16 code units of the longest mark; what is longer is no citation. */
const MAX_MARK = 200
/** Stands in for a mark; texts of messages hold none. */
const NO_MARK = '\u0000'
const MARKS = new RegExp(` *(?:${NO_MARK}|\\[\\?\\])+`, 'g')
/** Numbers in a range such as `[2-9]`; a wider one is no citation. */
const MAX_RANGE = 50
/** Longer numbers that were not given out are years and the like, not citations. */
const MAX_DIGITS = 3
const ITEM = /^(\d+)(?: ?[-\u2013\u2014] ?(\d+))?$/

/** What stands in place of a citation that cites nothing. */
const UNKNOWN_MARK = '[?]'

interface KnownNumbers {
  /** Whether the number was given to a hit of the run. */
  has(number: number): boolean
  /** Called with a number that was cited and belongs to no hit. */
  onUnknown(number: number): unknown
  /** What is shown for a number that was given; the number in brackets without it. */
  mark?(number: number): string
}

/** Whether the brackets hold numbers in a form that models cite in: `[1]`, `[1, 2]`, `[1-3]`. */
function isCitationMark(mark: string): boolean {
  return numbersIn(mark) !== undefined
}

/** Whether a mark is in its final form as it stands. */
function isSettled(mark: string, known: Pick<KnownNumbers, 'has' | 'mark'>): boolean {
  return !known.mark && /^\[\d+\]$/.test(mark) && known.has(Number(mark.slice(1, -1)))
}

/**
 * A mark as it is shown: known numbers as `[1][2]`, unknown ones as `[?]`. A number of more digits than
 * citations have, and a list without any known number, are data rather than citations: they lose their
 * square brackets and nothing else, unless `isAttached` to a bracket, where round ones would make a link.
 */
function settleMark(mark: string, known: KnownNumbers, isAttached: boolean): string {
  const numbers = numbersIn(mark) ?? []
  const cited = numbers.filter((number) => known.has(number))
  for (const number of numbers) {
    if (!known.has(number) && String(number).length <= MAX_DIGITS) known.onUnknown(number)
  }
  if (cited.length > 0) {
    const marks = cited.map(known.mark ?? ((number) => `[${number}]`)).join('')
    return cited.length < numbers.length ? marks + UNKNOWN_MARK : marks
  }
  const isData = numbers.length > 1 || numbers.some((number) => String(number).length > MAX_DIGITS)
  return isData && !isAttached ? `(${mark.slice(1, -1)})` : UNKNOWN_MARK
}

/** The numbers of a mark, or nothing where it is none. No list that names a nought cites: `[0, 1]`. */
function numbersIn(mark: string): number[] | undefined {
  const items = mark
    .slice(1, -1)
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

/** What a text cites, in its order: the number in each mark, and where the mark begins. The text has been checked already. */
export function citationsIn(text: string, count: number, isJsonAsked: boolean) {
  const known = {
    has: (number: number) => number > 0 && number <= count,
    onUnknown: () => undefined,
    // As long as the mark.
    mark: (number: number) => `${NO_MARK}${number}${NO_MARK}`,
  }
  const check = createCitationCheck(known, isJsonAsked)
  const marked = check.write(text) + check.end()
  const marks = marked.matchAll(new RegExp(`${NO_MARK}(\\d+)${NO_MARK}`, 'g'))
  return Array.from(marks, ({ 1: number, index }) => ({ number: Number(number), index }))
}

/** A text of an earlier answer without its citations, whose numbers are those of another run. Code keeps its brackets. */
export function withoutCitations(text: string): string {
  if (!/\[[\d?]/.test(text)) return text
  const has = (number: number) => String(number).length <= MAX_DIGITS
  const check = createCitationCheck({ has, onUnknown: () => undefined, mark: () => NO_MARK })
  const unmarked = check.write(text) + check.end()
  return unmarked.replaceAll(MARKS, '')
}
