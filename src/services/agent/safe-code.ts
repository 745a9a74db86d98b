/** How much of a text is consumed and what is shown for it; undefined if more text is needed first. */
export type Step = { taken: number; shown: string } | undefined

export interface Scan {
  /** The text not consumed yet; not empty. */
  text: string
  block: Block
  /** Whether no more text follows. */
  isLast: boolean
  mayOpen: (url: string) => boolean
}

/** Maximum UTF-16 code units held back to complete an image, tag, link target or inline code. */
export const MAX_LOOKED_AT = 1_000

export function waits({ text, isLast }: Scan): boolean {
  return !isLast && text.length < MAX_LOOKED_AT
}

export function as(text: string) {
  return { taken: text.length, shown: text }
}

type Block = ReturnType<typeof createBlock>

/** The state of the lines so far that decides whether something is code. */
export function createBlock() {
  let isBlank = true
  return {
    /** The last character shown; empty at the beginning of a line. */
    last: '',
    /** The marks that opened the current fence; empty outside of one. */
    fence: '',
    /** Whether a tag was shown since the last blank line: what follows may be HTML. */
    hasTag: false,
    /** Length of the longest unclosed run of backticks since the last blank line. */
    openRun: 0,
    passed(shown: string): void {
      for (const part of shown.split(/(?<=\n)/)) {
        isBlank &&= part.trim() === ''
        this.last = part.endsWith('\n') ? '' : part.slice(-1)
        if (this.last !== '') continue
        if (isBlank && this.fence === '') [this.hasTag, this.openRun] = [false, 0]
        isBlank = true
      }
    },
  }
}

/**
 * Consumes a line within a fence, or one that opens it. Only fences at the very beginning of a line count: apart from
 * HTML, they are code whatever precedes them, while fences in lists and quotes may end early.
 */
export function fenceLine(scan: Scan): Step | 'none' {
  const { text, block } = scan
  const end = text.indexOf('\n') + 1
  const line = end === 0 ? text : text.slice(0, end)
  if (block.fence) return lineOfCode(scan, line)
  if (block.last !== '' || block.hasTag) return 'none'
  if (!/^(?:`{1,2}$|~{1,2}$|`{3}|~{3})/.test(line)) return 'none'
  if (end === 0) return waits(scan) ? undefined : 'none'
  const [, fence = ''] = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(line.trimEnd()) ?? []
  if (fence === '') return 'none'
  block.fence = fence
  return as(line)
}

function lineOfCode(scan: Scan, line: string): Step {
  const { block } = scan
  if (block.last !== '') return as(line)
  if (!line.endsWith('\n') && /^ {0,3}(?:[`~]|$)/.test(line) && waits(scan)) return undefined
  if (closes(line, block.fence)) block.fence = ''
  return as(line)
}

function closes(line: string, fence: string): boolean {
  const marks = line.trim()
  return (
    /^ {0,3}[`~]/.test(line) &&
    marks.length >= fence.length &&
    marks === (fence[0] ?? '').repeat(marks.length)
  )
}

/**
 * Consumes code between backticks on one line. It does not count as code if an earlier run of backticks was never
 * closed, if it may be within HTML, or if it may span two cells of a table.
 */
export function inlineCode(scan: Scan): Step {
  const { text, block } = scan
  const [run = ''] = /^`+/.exec(text) ?? []
  const [line = ''] = text.split('\n', 1)
  const closing = new RegExp(`(?<!\`)${run}(?!\`)`).exec(line.slice(run.length))
  const end = closing ? run.length + closing.index + run.length : 0
  const isWhole = line.length < text.length
  if (!isWhole && (end === 0 || end === text.length) && waits(scan)) return undefined
  const code = line.slice(0, end)
  if (end === 0) block.openRun = Math.max(block.openRun, run.length)
  const isCode = end > 0 && block.openRun === 0 && !block.hasTag && !code.includes('|')
  return as(isCode ? code : run)
}
