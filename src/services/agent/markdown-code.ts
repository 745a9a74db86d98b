/** Tells code from text, character by character. */
export interface CodeMarks {
  /** Takes the next character; answers whether it stands within code. */
  see(character: string): boolean
}

interface Run {
  character: string
  length: number
  beginsLine: boolean
}

/** Characters that quotes and lists put before a fence. */
const BEFORE_FENCE = /[\s>*+\-.)\d]/
const SHORTEST_FENCE = 3

/**
 * Code is what stands in a fence of backticks or tildes, or between backticks on one line: a backtick that is
 * never closed makes no code of the lines that follow.
 */
export function createMarkdownCode(): CodeMarks {
  let run: Run | undefined
  let fence: Run | undefined
  /** Whether the fence was opened on this very line. */
  let isOpening = false
  /** Backticks that opened code within a line. */
  let inline = 0
  let beginsLine = true

  return {
    see(character) {
      if (run && character === run.character) run.length += 1
      else begin(character)
      return fence !== undefined || inline > 0
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
    else if (ended.beginsLine && ended.length >= SHORTEST_FENCE) [fence, isOpening] = [ended, true]
    else if (ended.character === '`' && inline === 0) inline = ended.length
    else if (ended.character === '`' && inline === ended.length) inline = 0
  }

  function closeFence(open: Run, { character, length, beginsLine: isFirst }: Run): void {
    // Backticks after the fence on its own line: it was code within the line.
    const isInline = isOpening && character === '`' && open.character === '`'
    const closes = isFirst && character === open.character && length >= open.length
    if (isInline || closes) fence = undefined
  }
}
