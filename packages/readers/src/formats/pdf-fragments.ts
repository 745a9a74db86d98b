import { subscript, superscript } from '../marks.ts'

/** A run of text on a page. All measures are in points; `base` is its baseline, counted from the top of the page. */
export interface Fragment {
  text: string
  left: number
  right: number
  base: number
  height: number
  /** A table at this place, with no other text. */
  table?: Table
}

/** A rectangle that is as thin as a line, or the edge of one that is not. */
export interface Rule {
  isHorizontal: boolean
  /** The position across its direction. */
  at: number
  from: number
  to: number
}

/** What was found on a page, in reading order. */
export type Block = Line | Table

export interface Line {
  kind: 'line'
  text: string
  base: number
  height: number
}

export interface Table {
  kind: 'table'
  /** The baselines of its first and last row. */
  base: number
  end: number
  /** The left edge of each column. */
  lefts: number[]
  rows: string[][]
}

/** Fragments on one baseline, from left to right. */
export type Row = Fragment[]

/** The middle of the letters of a text, from the top of the page. */
export const middle = ({ base, height }: Fragment) => base - height * 0.3

/** Superscripts are raised by up to this share of the height. */
export const BASELINE_SLACK = 0.45

/** Rows from top to bottom. */
export function toRows(fragments: readonly Fragment[]): Row[] {
  const rows: Row[] = []
  let [base, height] = [0, 0]
  for (const fragment of fragments.toSorted((a, b) => a.base - b.base)) {
    const row = rows.at(-1)
    const slack = Math.max(height, fragment.height) * BASELINE_SLACK
    if (row && fragment.base - base <= slack) row.push(fragment)
    else {
      rows.push([fragment])
      base = fragment.base
      height = 0
    }
    height = Math.max(height, fragment.height)
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left))
}

/** Fragments with a gap below this many heights belong together. */
export const SEGMENT_GAP = 0.9
/** The marker of a list item is further away from its text than words are from each other. */
const MARKER =
  /^(?:\[[x ]\]|[•▪◦‣●○■❖➢➤✓✔*–—\u{f000}-\u{f0ff}-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])$/iu
const MARKER_GAP = 3.5

/** A gap below this many heights is a blank. */
export const BLANK = 0.5

/** Joins the fragments of a row that are not separated by a gap. */
export function toSegments(row: Row, usualGap = SEGMENT_GAP): Row {
  const segments: Fragment[] = []
  for (const fragment of row) {
    const last = segments.at(-1)
    const gap = last ? fragment.left - last.right : 0
    const height = Math.max(last?.height ?? 0, fragment.height)
    const most = last && MARKER.test(last.text) ? MARKER_GAP : usualGap
    if (!last || gap > height * most) segments.push({ ...fragment })
    else extend(last, fragment)
  }
  return segments
}

function extend(last: Fragment, next: Fragment): void {
  const { text, right, height, left } = next
  const isApart = left - last.right > Math.max(height, last.height) * 0.12
  const isLower = height < last.height * SMALLER
  const blank = (isApart && !isLower) || left - last.right > height * 0.25 ? ' ' : ''
  last.text += blank + (blank === '' ? scriptOf(next, last) : text)
  last.right = Math.max(last.right, right)
  last.height = Math.max(last.height, height)
}

/** Letters of exponents and indices are smaller by this factor. */
const SMALLER = 0.85
const MIN_SCRIPT = 0.4
/** In heights of the line: how far it is raised or lowered. */
const [MIN_RAISED, MAX_RAISED, MIN_LOWERED] = [0.15, 0.8, 0.08]
const MAX_SCRIPT = 6

/** The text of a fragment, marked if it stands above or below the line of what it follows. */
function scriptOf({ text, base, height }: Fragment, owner: Fragment): string {
  const factor = height / owner.height
  if (factor > SMALLER || factor < MIN_SCRIPT || text.length > MAX_SCRIPT) return text
  const raised = (owner.base - base) / owner.height
  if (raised > MIN_RAISED && raised < MAX_RAISED) return superscript(text)
  return raised < -MIN_LOWERED ? subscript(text) : text
}

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}/u

/** The text of the fragments of a row. */
export function textOf(row: Row): string {
  const isReversed = row.length > 1 && row.some(({ text }) => RIGHT_TO_LEFT.test(text))
  const segments = isReversed ? row.toReversed() : toSegments(row)
  return tidy(segments.map(({ text }) => text).join(' '))
}

export function tidy(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim()
}

/** Combines two transformations, each given as the six numbers of a PDF matrix. */
export function multiply(a: readonly number[], b: readonly number[]): number[] {
  const [a0 = 1, a1 = 0, a2 = 0, a3 = 1, a4 = 0, a5 = 0] = a
  const [b0 = 1, b1 = 0, b2 = 0, b3 = 1, b4 = 0, b5 = 0] = b
  return [
    a0 * b0 + a2 * b1,
    a1 * b0 + a3 * b1,
    a0 * b2 + a2 * b3,
    a1 * b2 + a3 * b3,
    a0 * b4 + a2 * b5 + a4,
    a1 * b4 + a3 * b5 + a5,
  ]
}

/** A text item of the parser, as far as it is used here. */
interface ParsedItem {
  str: string
  width: number
  height: number
  transform: readonly number[]
}

/** In points: a text that is drawn again so near is only bolder. */
const REPRINT = 1.5
/** Texts before one that it may repeat. */
const REPRINTED = 40

/** Whether one of the last texts is the same, at nearly the same place. */
const isReprint = (
  texts: readonly { text: string; at: readonly number[] }[],
  text: string,
  at: readonly number[],
) =>
  texts
    .slice(-REPRINTED)
    .some(
      (one) =>
        one.text === text && at.every((value, n) => Math.abs(value - (one.at[n] ?? 0)) < REPRINT),
    )

const QUARTER = 90

/** A page with a larger share of upright letters is read as it is: labels of charts may stand on their side. */
const MAX_UPRIGHT = 0.2

/** By how many degrees a page is turned clockwise so that most of its letters stand upright. */
export function turnOf(items: readonly ParsedItem[], view: readonly number[]): number {
  const letters = [0, 0, 0, 0]
  for (const { str, transform } of items) {
    const turn = turnOfText(multiply(view, transform))
    if (turn !== undefined) letters[turn] = (letters[turn] ?? 0) + str.trim().length
  }
  const [upright = 0] = letters
  const all = letters.reduce((sum, count) => sum + count, 0)
  return upright > all * MAX_UPRIGHT ? 0 : letters.indexOf(Math.max(...letters)) * QUARTER
}

/** In quarters; none for slanted text, such as a watermark, which stands upright in no turn. */
function turnOfText([a = 0, b = 0]: readonly number[]): number | undefined {
  const [level, steep] = [Math.abs(a), Math.abs(b)]
  if (Math.min(level, steep) > Math.max(level, steep) * 0.1) return undefined
  if (level >= steep) return a < 0 ? 2 : 0
  return b < 0 ? 1 : 3
}

/** The upright fragments of a page, and its rotated texts, in the order of the file. */
export function toFragments(items: readonly ParsedItem[], view: readonly number[]) {
  const upright: Fragment[] = []
  const rotated: { text: string; at: readonly number[] }[] = []
  for (const { str, width, height, transform } of items) {
    const text = tidy(str)
    if (text === '') continue
    const at = multiply(view, transform)
    const [a = 0, b = 0, , , left = 0, base = 0] = at
    if (a > 0 && Math.abs(b) <= a * 0.1) {
      upright.push({ text, left, right: left + width, base, height: height || a })
    } else if (!isReprint(rotated, text, at)) {
      rotated.push({ text, at })
    }
  }
  return { upright, rotated: rotated.map(({ text }) => text) }
}
