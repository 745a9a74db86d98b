/** Follows a text and tells which parts of it are code. */
interface CodeMarks {
  /** Takes the next character; returns whether it is within code. */
  take(character: string): boolean
  /** Skips characters that do not affect the state, from `at` on; returns the index of the first that may. */
  pass(text: string, at: number): number
}

/** Finds code in an answer, as JSON if that was requested or the answer begins with `{`, otherwise as Markdown. */
export function createAnswerCode(isJsonAsked: boolean): CodeMarks {
  const markdown = createMarkdownCode()
  let code: CodeMarks | undefined

  return {
    take(character) {
      if (!code && character.trim() === '') return false
      code ??= isJsonAsked || character === '{' ? createJsonCode(markdown) : markdown
      return code.take(character)
    },
    pass: (text, at) => code?.pass(text, at) ?? at,
  }
}

/** In JSON, strings are text; everything else, such as arrays of numbers, is code, up to the end of the value. */
function createJsonCode(after: CodeMarks): CodeMarks {
  let depth = 0
  let isString = false
  let isEscaped = false
  let isOver = false

  return {
    take(character) {
      if (isOver) return after.take(character)
      if (isEscaped) isEscaped = false
      else if (character === '\\') isEscaped = isString
      else if (character === '"') isString = !isString
      else if (!isString) isOver = closes(character)
      return !isString
    },
    pass: (text, at) => (isOver ? after.pass(text, at) : at),
  }

  function closes(character: string): boolean {
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else return false
    return depth <= 0
  }
}

interface Run {
  character: string
  length: number
  beginsLine: boolean
}

/** Characters that may precede a fence in quotes and lists. */
const BEFORE_FENCE = /[\s>*+\-.)\d]/
const MIN_FENCE = 3
const MARKS = /[\n`~]/g

/**
 * In Markdown, code is what is in a fence of backticks or tildes, or between backticks on one line: an unclosed
 * backtick does not affect the following lines.
 */
function createMarkdownCode(): CodeMarks {
  let run: Run | undefined
  let fence: Run | undefined
  /** Whether the fence was opened on the current line. */
  let isOpening = false
  /** Number of backticks that opened inline code; 0 outside of it. */
  let inline = 0
  let beginsLine = true

  return {
    take(character) {
      if (run && character === run.character) run.length += 1
      else begin(character)
      return fence !== undefined || inline > 0
    },
    pass(text, at) {
      if (run || beginsLine) return at
      MARKS.lastIndex = at
      return MARKS.exec(text)?.index ?? text.length
    },
  }

  function begin(character: string): void {
    if (run) settle(run)
    run = undefined
    if (character === '\n') {
      ;[beginsLine, isOpening, inline] = [true, false, 0]
      return
    }
    if (character === '`' || character === '~') run = { character, length: 1, beginsLine }
    beginsLine &&= BEFORE_FENCE.test(character)
  }

  function settle(ended: Run): void {
    if (fence) closeFence(fence, ended)
    else if (ended.beginsLine && ended.length >= MIN_FENCE) [fence, isOpening] = [ended, true]
    else if (ended.character === '`' && inline === 0) inline = ended.length
    else if (ended.character === '`' && inline === ended.length) inline = 0
  }

  function closeFence(open: Run, { character, length, beginsLine: isFirst }: Run): void {
    // More backticks on the line of the fence mean that it was inline code.
    const isInline = isOpening && character === '`' && open.character === '`'
    const closes = isFirst && character === open.character && length >= open.length
    if (isInline || closes) fence = undefined
  }
}
