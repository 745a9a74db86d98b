import { createAnswerCode } from './answer-code.ts'
import {
  isCitationMark,
  isSettled,
  type KnownNumbers,
  LONGEST_MARK,
  settleMark,
} from './citation-mark.ts'

/** A text that comes in pieces, with every citation in it held to what was retrieved. */
export interface CitationCheck {
  /** Takes the next piece; answers what can be shown of the text by now. */
  write(piece: string): string
  /** The rest of the text. */
  end(): string
}

/** An index directly after a name that only code has, such as `a[3]` or `row_sum[0]`. */
const CODE_NAME = /(?:^|[^\p{L}\p{N}_])(?:[a-z]|\w*_\w*)$/u
const WITHIN_MARK = /[\d ,;\u2013\u2014-]/
/** UTF-16 code units of a name that are looked at. */
const LONGEST_NAME = 40

/**
 * Holds back nothing but a bracket with numbers that is still open, or that needs one more character to be
 * told from a link. What is shown does not depend on how the text is cut into pieces. Code, lists in JSON
 * and links keep their brackets.
 */
export function createCitationCheck(known: KnownNumbers, isJsonAsked = false): CitationCheck {
  const code = createAnswerCode(isJsonAsked)
  let held = ''
  /** The end of what was shown. */
  let before = ''
  let isIndex = false

  return {
    write: (piece) => Array.from(piece, take).join(''),
    end: () => (held.endsWith(']') ? settle() : flush()),
  }

  /** Answers what can be shown now that `character` has come. */
  function take(character: string): string {
    const isCode = code.see(character)
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
    return held.length < LONGEST_MARK && WITHIN_MARK.test(next)
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
    before = (before + text).slice(-LONGEST_NAME)
    return text
  }
}
