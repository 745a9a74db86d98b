import { formulaLength } from './formulas.ts'
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

/** Splits a streamed Markdown text into code and other text. The kind of a character does not depend on the pieces. */
export class CodeScanner {
  #pending = ''
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
    if (this.#beginsLine) {
      const [before = ''] = BEFORE_FENCE.exec(line) ?? []
      const rest = line.slice(before.length)
      if (isWaiting && MAY_BE_FENCE.test(rest)) return undefined
      const fence = this.#fence ?? this.#openedBy(line, before, rest)
      const isClosed = this.#fence && closes(line, before, this.#fence)
      this.#fence = isClosed ? undefined : fence
      if (fence) return { text: line, code: fence.code }
    }
    if (this.#fence) return { text: line, code: this.#fence.code }
    return this.#inLine(line, isWaiting, isEnd)
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
    const formula = this.#formulaLength(line, !isEnd)
    if (formula === undefined) return undefined
    if (formula > 0) return { text: this.#pending.slice(0, formula), code: 'likely' }
    this.#hasTag ||= TAG.test(line)
    return { text: line.slice(0, line[0] === '\\' ? 2 : 1), code: 'none' }
  }

  /** The length of the formula at the beginning, which may go on over the ends of lines; undefined if more is needed. */
  #formulaLength(line: string, isWaiting: boolean): number | undefined {
    if (!FORMULA.test(line) || WITHIN_WORD.test(this.#last)) return 0
    return formulaLength(this.#pending, { beginsLine: this.#isHead, isWaiting })
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
    if (!this.#beginsLine) return
    if (this.#isBlank && !this.#fence) {
      this.#hasTag = false
      this.#hasOpenRun = false
    }
    this.#isBlank = true
    this.#isHead = true
  }
}

function closes(line: string, before: string, { marks, code }: OpenFence): boolean {
  if (code === 'certain' && !/^ {0,3}$/.test(before)) return false
  return closesFence(line, { start: before.length, end: line.trimEnd().length }, marks)
}
