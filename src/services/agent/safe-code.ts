/** How much of a text is settled, and what is shown for it; nothing where more has to come first. */
export type Step = { taken: number; shown: string } | undefined

export interface Scan {
  /** What is not settled yet; not empty. */
  text: string
  block: Block
  /** Whether nothing more comes. */
  isLast: boolean
  mayOpen: (url: string) => boolean
}

/** UTF-16 code units of an image, a tag, a link's target or code within a line that are waited for. */
export const MAX_LOOKED_AT = 1_000

export function waits({ text, isLast }: Scan): boolean {
  return !isLast && text.length < MAX_LOOKED_AT
}

export function as(text: string) {
  return { taken: text.length, shown: text }
}

type Block = ReturnType<typeof createBlock>

/** What of the lines so far decides whether something is code. */
export function createBlock() {
  let isBlank = true
  return {
    /** The last character that was shown, or nothing at the beginning of a line. */
    last: '',
    /** The marks that opened the fence that is open. */
    fence: '',
    /** Since the last blank line a tag was shown: what follows may be HTML. */
    hasTag: false,
    /** The longest run of backticks since then that was never closed. */
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
 * A line within a fence, or one that opens it. Only a fence at the very beginning of a line is one whatever stands
 * before it, but for HTML: in lists and quotes it may end before its last line.
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
 * Code between backticks on one line. It is none where a run of backticks before it was never closed, where it may
 * stand in HTML, and where it may be two cells of a table.
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
