import { tidy } from './pdf-fragments.ts'
import { isCompound } from './pdf-hyphens.ts'
import type { Aligned, Cell } from './pdf-table-columns.ts'

/** Lines of one cell are at most this many heights apart. */
const LINE_GAP = 1.5
/** Lines that are closer than this many heights are one row, whose cells have different numbers of lines. */
const SAME_ROW = 0.95
/** Lines of a cell are closer than rows by this factor. */
const TIGHT = 0.85
const NUMBER =
  /^[-+−–(<>~≈±]{0,2}\s?[\p{Sc}]?\s?\d[\d.,\s'’]*(?:[-–/]\s?\p{Sc}?\d[\d.,]*)?\)?\s?[%\p{Sc}\p{L}*†‡]{0,3}$/u
/** A value that says that there is none. */
const NONE = /^(?:[-–—.*]{1,3}|n\/?a|x|\(\w\)|\.{2,})$/iu
/** The beginning of a line that continues the one above, and the end of one that continues below. */
const CONTINUED = /^(?:\p{Ll}|[)(&/,;])/u
const OPEN = /(?:[-–,/(&]|\b(?:and|or|of|the|in|for|to|with|by|und|oder|der|die))$/iu
/** A word that is divided at the end of a line, and its continuation. */
const DIVIDED = /(?<![\p{L}\p{N}])([\p{L}\p{N}]+)[-\u{ad}‐]$/u
const REST = /^\p{Ll}[\p{L}\p{N}]*/u

export type Line = readonly Cell[]

/** What is drawn between the rows and columns of a table. */
interface RowRules {
  /** Whether a rule lies between two lines. */
  isCut(above: Line, below: Line): boolean
  /** Whether rules divide all rows, so that lines between two of them belong together unless they cannot. */
  areRuled: boolean
  /** The right edge of a column, if it is drawn. */
  rightOf?: (column: number) => number | undefined
}

export const isValue = (text: string) => NUMBER.test(text) || NONE.test(text)

interface Context {
  /** The first line with a number beside its label. */
  body: Line | undefined
  /** The least distance of a whole row from what is above it, in heights. */
  rowGap: number
  columns: number
  areRuled: boolean
  fits(upper: Cell, width: number): boolean
}

/** Groups the lines of a table into its rows. */
export function toRowGroups({ columns, lines }: Aligned, rules: RowRules): Line[][] {
  const context = {
    rowGap: gapOfRows(lines, columns.length),
    columns: columns.length,
    body: lines[bodyOf(lines)],
    areRuled: rules.areRuled,
    fits: createFits(lines, rules),
  }
  const groups: Line[][] = []
  for (const [n, line] of lines.entries()) {
    const group = groups.at(-1)
    const above = group?.at(-1)
    const isPart = group && above && !rules.isCut(above, line)
    if (isPart && isOneRow({ group, line, next: lines[n + 1] }, context)) group.push(line)
    else groups.push([line])
  }
  return groups
}

/** Where the heads of a table end: at the first line that has a number beside its label. */
export const bodyOf = (lines: readonly Line[]) =>
  lines.findIndex((line) => line.some(({ text, from }) => from > 0 && NUMBER.test(text)))

/** Whether a text of a width, in points, finds room behind a cell: other cells of its column reach that far. */
function createFits(lines: readonly Line[], { rightOf }: RowRules): Context['fits'] {
  const rights = new Map<number, number[]>()
  for (const { to, right } of lines.flat()) {
    const [most = -Infinity, next = -Infinity] = rights.get(to) ?? []
    if (right > most) rights.set(to, [right, most])
    else rights.set(to, [most, Math.max(next, right)])
  }
  return ({ to, right }, width) => {
    const [most = Infinity, next = most] = rights.get(to) ?? []
    const edge = rightOf?.(to) ?? (right < most ? most : next)
    return right + width <= edge + 1
  }
}

/** The texts of the cells of a row: a text that spans columns stands in each of them. */
export function textsOf(group: readonly Line[], columns: number): string[] {
  const cells = Array.from({ length: columns }, () => '')
  for (const { text, from, to } of group.flat()) {
    for (let column = from; column <= to; column++) {
      cells[column] = joinLines(cells[column] ?? '', text)
    }
  }
  return cells
}

function joinLines(above: string, below: string): string {
  const [first, last] = [DIVIDED.exec(above)?.[1], REST.exec(below)?.[0]]
  if (!first || !last) return tidy(`${above} ${below}`)
  return tidy((isCompound(first, last) ? above : above.slice(0, -1)) + below)
}

function distance(above: Line, below: Line): number {
  const height = Math.max(above[0]?.height ?? 0, below[0]?.height ?? 0)
  return height > 0 ? ((below[0]?.base ?? 0) - (above[0]?.base ?? 0)) / height : 0
}

function gapOfRows(lines: readonly Line[], columns: number): number {
  const gaps = lines.slice(1).flatMap((line, n) => {
    const above = lines[n]
    return above && above.length > 1 && isWhole(line, columns) ? [distance(above, line)] : []
  })
  return gaps.length > 0 ? Math.min(...gaps) : 0
}

/** Whether a line begins a row rather than continues one: it has a label and a number, or a text in every column. */
const isWhole = (line: Line, columns: number) =>
  line[0]?.from === 0 &&
  (line.length === columns || line.slice(1).some(({ text }) => isValue(text)))

interface Step {
  group: readonly Line[]
  line: Line
  next: Line | undefined
}

/** A cell of a line with what is above it in the row. */
interface Pair {
  upper: Cell
  lower: Cell
}

function isOneRow(step: Step, context: Context): boolean {
  const { group, line } = step
  const above = group.at(-1) ?? []
  const gap = distance(above, line)
  const pairs = pairsOf(group, line)
  if (pairs.some(isHead)) return false
  const values = pairs.filter(({ upper, lower }) => isValue(upper.text) && isValue(lower.text))
  if (gap < SAME_ROW && pairs.every(({ upper, lower }) => distance([upper], [lower]) > SAME_ROW)) {
    return values.length === 0
  }
  if (context.areRuled) {
    const isWholeRow = line.length < 3 && pairs.length === line.length
    return values.length < (isWholeRow ? 1 : 2)
  }
  if (values.length > 0 || gap > LINE_GAP || pairs.length === 0) return false
  if (isLabel(line)) return continuesLabel(step, pairs, context)
  return continuesCells(step, pairs, context)
}

function continuesCells({ group, line }: Step, pairs: readonly Pair[], context: Context): boolean {
  const above = group.at(-1) ?? []
  const areWrapped = pairs.every((pair) => wraps(pair, context))
  if (isLabel(above) && group.length === 1) {
    const isTight = distance(above, line) < context.rowGap * TIGHT
    return areWrapped && !isIndented(pairs[0]) && (isTight || pairs.some(saysSo))
  }
  if (context.body && baseOf(line) < baseOf(context.body)) return true
  // That all cells of a row have two lines is less likely than that there are two rows.
  if (areWrapped) {
    const isMany = line.length > 2 || line.some(({ text }) => isValue(text))
    return !(isMany && isWhole(line, context.columns)) || pairs.some(saysSo)
  }
  return distance(above, line) < context.rowGap * TIGHT && !isWhole(line, context.columns)
}

function pairsOf(group: readonly Line[], line: Line): Pair[] {
  const above = group.flat()
  return line.flatMap((lower) => {
    const upper = above.findLast(({ from, to }) => from <= lower.to && to >= lower.from)
    return upper ? [{ upper, lower }] : []
  })
}

/** Whether a text spans columns that have texts of their own below it. */
const isHead = ({ upper, lower }: Pair) =>
  upper.from < upper.to && (lower.from > upper.from || lower.to < upper.to)

const isLabel = ([first, ...more]: Line) => first?.from === 0 && first.to === 0 && more.length === 0

const isIndented = (pair: Pair | undefined) => !!pair && pair.lower.left > pair.upper.left + 1

/** Whether a line with nothing but a label continues the one above, rather than heading what is below. */
function continuesLabel({ group, line, next }: Step, [pair]: readonly Pair[], context: Context) {
  if (!pair) return false
  if (saysSo(pair)) return true
  const gap = distance(group.at(-1) ?? [], line)
  if (gap < context.rowGap * TIGHT) {
    // What is as close to the row below may be its first line.
    const isClose = next && next.length > 1 && distance(line, next) <= gap * 1.05
    return !(isClose && group.some((one) => one.length > 1) && wrapsTo(line, next, context))
  }
  return isIndented(pair) && wraps(pair, context)
}

function wrapsTo(line: Line, next: Line, context: Context): boolean {
  const [upper, lower] = [line[0], next[0]]
  return !!upper && !!lower && lower.from === 0 && wraps({ upper, lower }, context)
}

const saysSo = ({ upper, lower }: Pair) => goesOn(upper.text, lower.text)

/** Whether a text is marked as continuing below, or as continuing one above. */
export const goesOn = (upper: string, lower: string) => CONTINUED.test(lower) || OPEN.test(upper)

const baseOf = (line: Line) => line[0]?.base ?? 0

/** Whether a text continues one above it: it is marked so, or its first word did not fit there. */
function wraps(pair: Pair, { fits }: Context): boolean {
  if (saysSo(pair)) return true
  const { upper, lower } = pair
  const [word = ''] = lower.text.split(' ')
  const perCharacter = (lower.right - lower.left) / Math.max(1, lower.text.length)
  return !fits(upper, perCharacter * (word.length + 1))
}
