import { tieFootnotes } from './pdf-footnotes.ts'
import {
  BLANK,
  type Block,
  type Fragment,
  type Row,
  type Rule,
  type Table,
  textOf,
  toRows,
  toSegments,
} from './pdf-fragments.ts'
import { gapTable } from './pdf-gap-tables.ts'
import { ruledTables } from './pdf-ruled-tables.ts'
import { goesOn } from './pdf-table-rows.ts'

/** Columns within columns are read to this depth. */
const MAX_DEPTH = 4
/** Lines that columns have in common. */
const MIN_COLUMN_LINES = 4
/** Characters of a line of prose in a column. */
const MIN_PROSE = 14
/** Rows that are searched for the gap between columns. */
const SAMPLED_ROWS = 400
/** Edges that differ by less, in points, are at the same place. */
const PLACE = 4
/** The space between columns of text is at least this wide, in heights. */
const GUTTER = 0.9
/** A column that is narrower than the other by this factor is beside the text. */
const SIDEBAR = 0.55

/** The lines and tables of a page in reading order. */
export function layOut(fragments: readonly Fragment[], rules: readonly Rule[]): Block[] {
  const { rest, footnotes } = tieFootnotes(fragments)
  const { tables, rest: texts } = ruledTables(rest, rules)
  return [...readRegion([...texts, ...tables], 0), ...footnotes]
}

/** Whether there are enough texts beside each other that lines may divide them. */
export function mayHaveTable(fragments: readonly Fragment[]): boolean {
  let rows = 0
  for (const row of toRows(fragments)) if (row.length > 1 && ++rows === 2) return true
  return false
}

function readRegion(fragments: readonly Fragment[], depth: number): Block[] {
  const rows = toRows(fragments)
  const gutter = depth < MAX_DEPTH ? findGutter(rows) : undefined
  if (gutter === undefined) return readRows(rows)
  const blocks: Block[] = []
  let band: Row[] = []
  const readBand = () => {
    const [one, other] = [gutter.side(band, true), gutter.side(band, false)]
    const isDivided = one.length > 0 && other.length > 0
    if (!isDivided) blocks.push(...readRegion(band.flat(), MAX_DEPTH))
    else {
      const isSidebar = widthOf(one) < widthOf(other) * SIDEBAR
      for (const side of isSidebar ? [other, one] : [one, other]) {
        blocks.push(...readRegion(side, depth + 1))
      }
    }
    band = []
  }
  for (const row of rows) {
    if (gutter.isCrossedBy(row)) {
      readBand()
      blocks.push(...readRows([row]))
    } else band.push(row)
  }
  readBand()
  return blocks
}

function widthOf(fragments: readonly Fragment[]): number {
  let [left, right] = [Infinity, 0]
  for (const fragment of fragments) {
    left = Math.min(left, fragment.left)
    right = Math.max(right, fragment.right)
  }
  return right - left
}

/** The gap between two columns of prose: most lines that have text on both sides leave it free. */
function findGutter(rows: readonly Row[]) {
  const sample = rows.slice(0, SAMPLED_ROWS)
  // The left edge of a column is the same in each of its lines.
  const edges = new Map<number, number[]>()
  for (const { left } of sample.flatMap((row) => toSegments(row, BLANK)).filter(isProse)) {
    const place = Math.floor(left / PLACE)
    edges.set(place, [...(edges.get(place) ?? []), left])
  }
  const lefts = [...edges.values()]
    .filter((edges) => edges.length >= MIN_COLUMN_LINES / 2)
    .map((edges) => Math.min(...edges))
  for (const left of lefts.toSorted((a, b) => a - b)) {
    const gutter = gutterAt(left - 2, sample)
    if (gutter) return gutter
  }
  return undefined
}

const isProse = ({ text }: Fragment) => text.length >= MIN_PROSE && /\p{L}/u.test(text)

function gutterAt(at: number, rows: readonly Row[]) {
  const isLeft = ({ left }: Fragment) => left < at
  const sideOf = (row: Row, wantsLeft: boolean) =>
    row.filter((fragment) => isLeft(fragment) === wantsLeft)
  const isCrossedBy = (row: Row) => isCrossed(row, at)
  const free = rows.filter((row) => !isCrossedBy(row))
  const isColumn = (side: Row[]) => {
    const lines = side
      .filter((line) => line.length > 0 && !hasTable(line))
      .map((line) => toSegments(line))
    const prose = lines.filter(([first, ...more]) => first && more.length === 0 && isProse(first))
    return prose.length >= MIN_COLUMN_LINES && prose.length >= lines.length * 0.4 && isFlush(lines)
  }
  const enough =
    isColumn(free.map((row) => sideOf(row, true))) &&
    isColumn(free.map((row) => sideOf(row, false)))
  const beside = free.filter((row, n) => {
    const texts = [...row, ...(free[n + 1] ?? []).filter((next) => isBeside(row, next))]
    return texts.some(isLeft) && !texts.every(isLeft)
  })
  if (!enough || beside.length < MIN_COLUMN_LINES / 2) return undefined
  return {
    isCrossedBy,
    side: (band: readonly Row[], wantsLeft: boolean) =>
      band.flatMap((row) => sideOf(row, wantsLeft)),
  }
}

/** Whether a text is so little below a row that it is beside it: the lines of columns may be at different heights. */
const isBeside = ([first]: Row, { base, height }: Fragment) =>
  first !== undefined && base - first.base < Math.min(height, first.height) * 0.9

/** Whether a row has a text across a place, or texts on both sides that only a blank divides. */
function isCrossed(row: Row, at: number): boolean {
  const isAcross = row.some(
    ({ left, right, height }) => left < at - height * 0.2 && right > at - height * GUTTER * 0.3,
  )
  const before = row.findLast(({ left }) => left < at)
  const after = row.find(({ left }) => left >= at)
  if (isAcross || !before || !after) return isAcross
  const gap = (after.left - before.right) / Math.max(before.height, after.height)
  // A narrow gap is one between columns if the second begins right behind it.
  return gap < (after.left - at <= PLACE + 2 ? BLANK : GUTTER)
}

/** Whether most lines are nearly as wide as the widest, as those of paragraphs are and those of tables are not. */
function isFlush(lines: readonly Row[]): boolean {
  const widths = lines.map(widthOf)
  const widest = Math.max(...widths)
  return widths.filter((width) => width > widest * 0.7).length >= widths.length * 0.5
}

function readRows(rows: readonly Row[]): Block[] {
  const blocks: Block[] = []
  for (let n = 0; n < rows.length; ) {
    const next = tableAt(rows, n)
    if (next) {
      blocks.push(next.table)
      n += next.rows
      continue
    }
    const row = rows[n] ?? []
    const text = textOf(row)
    const height = Math.max(...row.map((fragment) => fragment.height))
    if (text !== '') blocks.push({ kind: 'line', text, base: row[0]?.base ?? 0, height })
    blocks.push(...row.flatMap(({ table }) => table ?? []))
    n++
  }
  return blocks
}

/** The most rows of one table; a longer one is divided. */
const MAX_TABLE_ROWS = 300
/** Rows that are tried first, so that a page of many rows without a table takes no longer. */
const FIRST_ROWS = 40

function tableAt(rows: readonly Row[], n: number): { table: Table; rows: number } | undefined {
  if (!mayBegin(rows, n)) return undefined
  const most = rows.slice(n, n + MAX_TABLE_ROWS)
  const end = most.findIndex(hasTable)
  const tableRows = end < 0 ? most : most.slice(0, end)
  const first = gapTable(tableRows.slice(0, FIRST_ROWS))
  const isWhole = !first || tableRows.length <= FIRST_ROWS || first.rows < FIRST_ROWS / 2
  return isWhole ? first : (gapTable(tableRows) ?? first)
}

/** Whether a row has several texts, or one that heads several of the next, or begins the label of the next. */
function mayBegin(rows: readonly Row[], n: number): boolean {
  const [row = [], next = []] = [rows[n], rows[n + 1]]
  const [first] = row
  if (row.length !== 1 || !first) return row.length > 1
  const [label, ...more] = toSegments(next)
  if (!label || label.base - first.base > first.height * HEAD_GAP || more.length < 2) return false
  const isHead = first.left > label.right && first.text.length <= MAX_HEAD
  const isLabel = Math.abs(first.left - label.left) < PLACE && goesOn(first.text, label.text)
  return isHead || (isLabel && first.right < (more[0]?.left ?? 0))
}

/** In heights, between a head and the heads below it. */
const HEAD_GAP = 1.6
const MAX_HEAD = 60

const hasTable = (row: Row) => row.some(({ table }) => table)
