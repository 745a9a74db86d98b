/** A part of an answer in Markdown that is drawn for itself: nothing of it reaches into another. */
export interface AnswerPart {
  text: string
  /** The depths of the headings that its first heading may stand below, outermost first. */
  above: readonly number[]
}

/** In UTF-16 code units; the last part, which is drawn anew while an answer grows, is seldom much longer. */
const MIN_PART = 2_000
/** What a formula on lines of its own may have: see formulas.ts. */
const MAX_FORMULA = 4_004

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/
/** What can only begin a paragraph or a heading: a list, a quotation or a note ends before it. */
const BEGINS_BLOCK = /^(?:#{1,6} |[\p{L}"'“„«¿¡])/u
const BEGINS_FORMULA = /^ {0,3}(\$\$|\\\[)/

/**
 * Cuts an answer at blank lines between its blocks. Where it is cut depends on what stands before, so that the parts of
 * an answer that grows stay the same up to the last; with those that it had, only the last is read again.
 */
export function answerParts(text: string, before: readonly AnswerPart[] = []): AnswerPart[] {
  const parts = before.slice(0, -1)
  const whole = parts.map((part) => part.text).join('')
  if (!text.startsWith(whole)) return answerParts(text)
  let start = whole.length
  let above = before.at(-1)?.above ?? []
  let scan = createScan(above)
  let isAfterBlank = false
  for (let at = start; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end === -1 ? text.length : end)
    if (isAfterBlank && at - start >= MIN_PART && scan.isOutside(at) && BEGINS_BLOCK.test(line)) {
      parts.push({ text: text.slice(start, at), above })
      start = at
      above = [...scan.headings]
      scan = createScan(above)
    }
    scan.read(line, at)
    isAfterBlank = line.trim() === ''
    at = end === -1 ? text.length : end + 1
  }
  if (start < text.length) parts.push({ text: text.slice(start), above })
  return parts
}

/** Reads line by line what the next lines stand within. */
function createScan(above: readonly number[]) {
  const headings = [...above]
  let fence: string | undefined
  let formula: OpenFormula | undefined
  return {
    headings,
    read(line: string, at: number) {
      const wasFenced = fence !== undefined
      fence = fenceAfter(line, fence)
      if (wasFenced || fence !== undefined) return
      formula = formula ? stillOpen(formula, line) : formulaIn(line, at)
      const depth = HEADING.exec(line)?.[1]?.length
      if (depth === undefined) return
      while ((headings.at(-1) ?? 0) >= depth) headings.pop()
      headings.push(depth)
    },
    isOutside: (at: number) => fence === undefined && (!formula || at - formula.from > MAX_FORMULA),
  }
}

/** The marks of the block of code that the next line stands within. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const [, marks = '', info = ''] = FENCE.exec(line) ?? []
  if (fence !== undefined) return marks.startsWith(fence) && info.trim() === '' ? undefined : fence
  return marks === '' || (marks.startsWith('`') && info.includes('`')) ? undefined : marks
}

interface OpenFormula {
  closing: string
  from: number
}

const stillOpen = (formula: OpenFormula, line: string) =>
  line.includes(formula.closing) ? undefined : formula

function formulaIn(line: string, from: number): OpenFormula | undefined {
  const sign = BEGINS_FORMULA.exec(line)?.[1]
  if (sign === undefined) return undefined
  const closing = sign === '$$' ? '$$' : '\\]'
  const rest = line.slice(line.indexOf(sign) + sign.length)
  return rest.includes(closing) ? undefined : { closing, from }
}
