import { CodeScanner, type Span } from '@agent-server/lib/markdown/code-spans.ts'

/** UTF-16 code units of the indentation of the first line that are kept. */
const MAX_LEADING = 1_000

/**
 * Splits a streamed answer into text and code: as JSON if that was requested or the answer begins with `{`, otherwise as
 * Markdown. In JSON, strings are text; everything else, such as arrays of numbers, is code, up to the end of the value.
 */
export class AnswerScanner {
  readonly #markdown = new CodeScanner()
  readonly #isJsonAsked: boolean
  #json: JsonScanner | undefined
  #isBegun = false
  /** White space before the answer: it may indent code. */
  #leading = ''

  constructor(isJsonAsked: boolean) {
    this.#isJsonAsked = isJsonAsked
  }

  /** Takes the next piece; returns what is decided. */
  write(piece: string): Span[] {
    const [first] = piece.trimStart()
    if (!this.#isBegun && first === undefined) return this.#lead(piece)
    if (!this.#isBegun && (this.#isJsonAsked || first === '{')) this.#json = new JsonScanner()
    this.#isBegun = true
    const text = this.#leading + piece
    this.#leading = ''
    if (!this.#json) return this.#markdown.write(text)
    const { spans, rest } = this.#json.take(text)
    return [...spans, ...this.#markdown.write(rest)]
  }

  /** Passes what is no indentation: blank lines, and what is wider than any code is indented. */
  #lead(blanks: string): Span[] {
    const leading = this.#leading + blanks
    const next = leading.lastIndexOf('\n') + 1
    const passed = leading.length - next > MAX_LEADING ? leading.length - MAX_LEADING : next
    this.#leading = leading.slice(passed)
    return passed === 0 ? [] : [{ text: leading.slice(0, passed), code: 'none' }]
  }

  /** Ends the text; returns the rest of it. */
  end(): Span[] {
    const leading: Span[] = this.#leading === '' ? [] : [{ text: this.#leading, code: 'none' }]
    this.#leading = ''
    return [...leading, ...this.#markdown.end()]
  }

  /** Whether the answer is known to be Markdown. */
  get isMarkdown(): boolean {
    return this.#isBegun && !this.#json
  }
}

class JsonScanner {
  #depth = 0
  #isString = false
  #isEscaped = false
  #isOver = false

  /** The spans of a piece, and what follows the value. */
  take(piece: string): { spans: Span[]; rest: string } {
    const spans: Span[] = []
    let at = 0
    for (; at < piece.length && !this.#isOver; at++) {
      const text = piece.charAt(at)
      this.#read(text)
      const code = this.#isString ? 'none' : 'certain'
      const last = spans.at(-1)
      if (last?.code === code) last.text += text
      else spans.push({ text, code })
    }
    return { spans, rest: piece.slice(at) }
  }

  #read(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (character === '\\') this.#isEscaped = this.#isString
    else if (character === '"') this.#isString = !this.#isString
    else if (!this.#isString && '{['.includes(character)) this.#depth += 1
    else if (!this.#isString && '}]'.includes(character)) {
      this.#depth -= 1
      this.#isOver = this.#depth <= 0
    }
  }
}
