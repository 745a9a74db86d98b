import { createUnclosed, formulaLength } from './formulas.ts'
import { closesFence, type Fence, fenceOf } from './lines.ts'

/**
 * A piece of a text. `certain` code is code to every renderer; `likely` code is code to most, such as a fence in a list,
 * a formula, or what stands between backticks in a table.
 */
export interface Span {
  text: string
  code: 'none' | 'likely' | 'certain'
}

interface OpenFence {
  marks: Fence
  code: 'likely' | 'certain'
}

/** Maximum UTF-16 code units held back to find the end of inline code, or of a line that opens a fence. */
export const MAX_LOOKED_AT = 1_000
/** What may precede a fence in quotes and lists. */
const BEFORE_FENCE = /^[\s>*+\-.)\d]*/
const LINE_HEAD = /^[\s>*+\-.)\d]*$/
const MAY_BE_FENCE = /^(?:$|`{1,2}$|~{1,2}$|`{3}|~{3})/
/** The end of a line, and where inline code, an escaped character, a formula or a tag begins. */
const TRIGGER = /[\n`\\<$]/
const FORMULA = /^(?:\$|\\[[(])/
const WITHIN_WORD = /[\p{L}\p{N}]$/u
const TAG = /^<[A-Za-z/!?]/
/** The elements whose text is code, and the beginning of one at the beginning of a line, which needs no end. */
const CODE_TAG = /^<(pre|code|kbd|samp|tt|script|style|textarea)(?:[\s/][^<>]*)?>/i
const MAY_BE_CODE_TAG = /^<[a-z]*(?:\s[^<>]*)?$/i
const BLOCK_TAG = /^(?:pre|script|style|textarea)$/i
/** What stands before the text of a line: marks of quotes, and white space. */
const QUOTES = /^(?: {0,3}> ?)*/
const ITEM = /^([ \t]*(?:[-*+]|\d{1,9}[.)]))(?:[ \t]|$)/
/** CommonMark: a line indented by so many columns more than the text around it is code, after a blank line. */
const CODE_INDENT = 4
/** UTF-16 code units of the beginning of a line, which show what kind of line it is. */
const MAX_HEAD = 40

/** Splits a streamed Markdown text into code and other text. The kind of a character does not depend on the pieces. */
export class CodeScanner {
  #pending = ''
  /** The length of all text before `#pending`. */
  #position = 0
  readonly #isUnclosed = createUnclosed()
  #beginsLine = true
  /** Whether there is only white space on the line so far. */
  #isBlank = true
  /** Whether there are only marks of quotes and lists on the line so far. */
  #isHead = true
  #fence: OpenFence | undefined
  /** Whether there was a tag since the last blank line: what follows may be HTML. */
  #hasTag = false
  /** Whether there was a run of backticks since the last blank line that no other closes on its line. */
  #hasOpenRun = false
  /** The last character that was passed. */
  #last = ''
  /** The beginning of the line so far. */
  #head = ''
  /** Whether the last line was blank, or there was none. */
  #isAfterBlank = true
  /** Whether the last line that was not blank is code by its indentation, and whether this one is. */
  #wasIndentedCode = false
  #isIndentedCode = false
  /** The column at which the text of the last list item begins; 0 outside of lists. */
  #itemIndent = 0
  /** The element that was opened, whose text is code up to its end. */
  #element: string | undefined

  /** Takes the next piece; returns what is decided. */
  write(piece: string): Span[] {
    this.#pending += piece
    return this.#scan(false)
  }

  /** Ends the text and returns the rest of it; another text may follow. */
  end(): Span[] {
    return this.#scan(true)
  }

  #scan(isEnd: boolean): Span[] {
    const spans: Span[] = []
    let end = this.#endOfLine()
    while (this.#pending !== '') {
      const line = this.#pending.slice(0, Math.min(end, MAX_LOOKED_AT))
      const isAll = isEnd || line.length === end || line.length === MAX_LOOKED_AT
      const span = this.#next(line, !isAll, isEnd)
      if (!span) break
      this.#pending = this.#pending.slice(span.text.length)
      this.#position += span.text.length
      end -= span.text.length
      if (end <= 0) end = this.#endOfLine()
      this.#pass(span.text)
      spans.push(span)
    }
    return spans
  }

  /** How many characters the rest of the line has, with its end; infinite if it has not ended. */
  #endOfLine(): number {
    return this.#pending.indexOf('\n') + 1 || Number.POSITIVE_INFINITY
  }

  /** The next span of the rest of a line; undefined if more of the line is needed first. */
  #next(line: string, isWaiting: boolean, isEnd: boolean): Span | undefined {
    if (this.#element) return this.#inElement(line, this.#element, isWaiting)
    if (this.#beginsLine) {
      const [before = ''] = BEFORE_FENCE.exec(line) ?? []
      if (isWaiting && MAY_BE_FENCE.test(line.slice(before.length))) return undefined
      const code = this.#fencedBy(line, before)
      if (code) return { text: line, code }
      this.#isIndentedCode = this.#isIndented(line)
    }
    if (this.#fence) return { text: line, code: this.#fence.code }
    if (this.#isIndentedCode) return { text: line, code: 'likely' }
    return this.#inLine(line, isWaiting, isEnd)
  }

  /** What a line is within a fence, or as one that opens or closes it. */
  #fencedBy(line: string, before: string): Span['code'] | undefined {
    const fence = this.#fence ?? this.#openedBy(line, before, line.slice(before.length))
    const isClosed = this.#fence && closes(line, before, this.#fence)
    this.#fence = isClosed ? undefined : fence
    return fence?.code
  }

  #isIndented(line: string): boolean {
    const isPossible = this.#isAfterBlank || this.#wasIndentedCode
    const text = line.replace(QUOTES, '')
    return isPossible && text.trim() !== '' && columnsOf(text) >= this.#itemIndent + CODE_INDENT
  }

  /** The text up to the end of the element, as far as it is known; undefined if its end may be cut off. */
  #inElement(line: string, element: string, isWaiting: boolean): Span | undefined {
    const whole = upToEnd(line, element)
    if (whole !== undefined) {
      this.#element = undefined
      return { text: whole, code: 'likely' }
    }
    // A tag may go on behind the part of the line that is looked at.
    const isCut = isWaiting || line.length === MAX_LOOKED_AT
    const cut = isCut ? /<[^<>]*$/.exec(line)?.index : undefined
    if (cut === 0 && isWaiting) return undefined
    return { text: line.slice(0, cut || undefined), code: 'likely' }
  }

  /** The tag that begins code, with the code if it ends on the line; nothing if it is none, undefined if that is not known. */
  #codeTag(line: string, isWaiting: boolean): string | undefined {
    const [tag, element = ''] = CODE_TAG.exec(line) ?? []
    if (tag === undefined) return isWaiting && MAY_BE_CODE_TAG.test(line) ? undefined : ''
    const whole = upToEnd(line, element)
    if (whole !== undefined) return whole
    if (BLOCK_TAG.test(element) && this.#isHead) {
      this.#element = element
      return tag
    }
    return isWaiting ? undefined : ''
  }

  #openedBy(line: string, before: string, rest: string): OpenFence | undefined {
    const marks = line.endsWith('\n') ? fenceOf(rest.trimEnd()) : undefined
    if (marks === undefined) return undefined
    return { marks, code: before === '' && !this.#hasTag ? 'certain' : 'likely' }
  }

  #inLine(line: string, isWaiting: boolean, isEnd: boolean): Span | undefined {
    const at = line.search(TRIGGER)
    if (at === -1 || line[at] === '\n') return { text: line, code: 'none' }
    if (at > 0) return { text: line.slice(0, at), code: 'none' }
    if (line[0] === '`') return this.#inlineCode(line, isWaiting)
    if (line.length === 1 && isWaiting) return undefined
    const formula = this.#formulaLength(line, isEnd)
    if (formula === undefined) return undefined
    if (formula > 0) return { text: this.#pending.slice(0, formula), code: 'likely' }
    const tag = this.#codeTag(line, isWaiting)
    if (tag === undefined) return undefined
    this.#hasTag ||= TAG.test(line)
    if (tag !== '') return { text: tag, code: 'likely' }
    return { text: line.slice(0, line[0] === '\\' ? 2 : 1), code: 'none' }
  }

  /** The length of the formula at the beginning, which may go on over the ends of lines; undefined if more is needed. */
  #formulaLength(line: string, isEnd: boolean): number | undefined {
    if (!FORMULA.test(line) || WITHIN_WORD.test(this.#last)) return 0
    if (this.#isUnclosed(this.#pending, this.#position, isEnd)) return 0
    return formulaLength(this.#pending, { beginsLine: this.#isHead, isWaiting: !isEnd })
  }

  /** The code between backticks at the beginning, or the backticks alone if no others on the line close them. */
  #inlineCode(line: string, isWaiting: boolean): Span | undefined {
    const [run = ''] = /^`+/.exec(line) ?? []
    const closing = new RegExp(`(?<!\`)${run}(?!\`)`).exec(line.slice(run.length))
    const end = closing ? run.length + closing.index + run.length : 0
    if (isWaiting && (end === 0 || end === line.length)) return undefined
    this.#hasOpenRun ||= end === 0
    if (end === 0) return { text: run, code: 'none' }
    const text = line.slice(0, end)
    const isUnsure = this.#hasOpenRun || this.#hasTag || text.includes('|')
    return { text, code: isUnsure ? 'likely' : 'certain' }
  }

  #pass(text: string): void {
    this.#beginsLine = text.endsWith('\n')
    this.#isBlank &&= text.trim() === ''
    this.#isHead &&= LINE_HEAD.test(text)
    this.#last = text.slice(-1)
    this.#head = (this.#head + text).slice(0, MAX_HEAD)
    if (!this.#beginsLine) return
    this.#endLine()
    if (this.#isBlank && !this.#fence) {
      this.#hasTag = false
      this.#hasOpenRun = false
    }
    this.#isBlank = true
    this.#isHead = true
  }

  /** Notes what the line that ends here implies for the next. */
  #endLine(): void {
    const text = this.#head.replace(QUOTES, '')
    this.#head = ''
    const isBlank = text.trim() === ''
    if (!isBlank && !this.#isIndentedCode) {
      const [, mark] = ITEM.exec(text) ?? []
      if (mark !== undefined) this.#itemIndent = columnsOf(mark) + mark.trim().length + 1
      else if (this.#isAfterBlank && columnsOf(text) < this.#itemIndent) this.#itemIndent = 0
    }
    if (!isBlank) this.#wasIndentedCode = this.#isIndentedCode
    this.#isAfterBlank = isBlank
    this.#isIndentedCode = false
  }
}

function columnsOf(text: string): number {
  return (/^[ \t]*/.exec(text)?.[0] ?? '').replaceAll('\t', '    ').length
}

function closes(line: string, before: string, { marks, code }: OpenFence): boolean {
  if (code === 'certain' && !/^ {0,3}$/.test(before)) return false
  return closesFence(line, { start: before.length, end: line.trimEnd().length }, marks)
}

/** The text up to the end of the element; undefined if that is not on the line. */
function upToEnd(line: string, element: string): string | undefined {
  const closing = new RegExp(`</${element}[ \\t]*>`, 'i').exec(line)
  return closing ? line.slice(0, closing.index + closing[0].length) : undefined
}
