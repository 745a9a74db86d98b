import { middle, type Row, type Rule, type Table, tidy, toSegments } from './pdf-fragments.ts'
import type { Aligned, Cell, Walls } from './pdf-table-columns.ts'
import { widenHeads } from './pdf-table-heads.ts'
import { isValue, type Line, textsOf, toRowGroups } from './pdf-table-rows.ts'

/** Texts of more characters are prose. */
const PROSE = 28
/** Rules that divide so many rows divide all. */
const MIN_CUTS = 3
/** Rows that a cell of a ruled table spans if each of its lines stands beside one of them. */
const MAX_SPANNED = 3
/** The share of its places that a table without a grid has texts in. */
const MIN_FILLED = 0.3

interface Ruling {
  horizontal: readonly Rule[]
  /** Whether rules divide the area in both directions. */
  isGrid: boolean
  walls: Walls
}

/** Whether rows between two rules have the texts of a table: most have several. */
export function isTabular(rows: readonly Row[]): boolean {
  const lines = rows.map((row) => toSegments(row))
  const full = lines.filter((line) => line.length > 1)
  if (full.length === 0 || full.length * 2 < lines.length) return false
  const texts = full.flat()
  const prose = texts.filter(({ text }) => text.length > PROSE).length
  return prose * 2 < texts.length || texts.some(({ text }) => isValue(text))
}

/**
 * The table of an area between rules, and which of the lines it takes: those of a title or a note within the rules are
 * not part of it. Undefined if there is none.
 */
export function toTable(aligned: Aligned, { horizontal, isGrid, walls }: Ruling) {
  const { columns } = aligned
  const width = columns.length
  const spansAll = (line: Line) =>
    line.length === 1 && line[0]?.from === 0 && line[0].to === width - 1
  const isPart = (line: Line) => line.length > 0 && !spansAll(line)
  const [first, end] = [aligned.lines.findIndex(isPart), aligned.lines.findLastIndex(isPart) + 1]
  const ofTable = aligned.lines.slice(Math.max(first, 0), end)
  const lines = widenHeads(
    ofTable.filter((line) => line.length > 0),
    columns,
    horizontal,
  )
  const isCut = (above: Line, below: Line) => cutBetween(horizontal, above, below)
  const cuts = lines.slice(1).filter((line, n) => isCut(lines[n] ?? [], line)).length
  const areRuled = isGrid && cuts >= MIN_CUTS
  const rightOf = (column: number) => edgeOf(column, columns, walls)
  const groups = toRowGroups({ columns, lines }, { isCut, areRuled, rightOf })
  const texts = groups.map((group) => textsOf(group, width))
  if (isGrid) fillDown(texts, groups, { columns, horizontal })
  if (!isTable(groups, width, isGrid)) return undefined
  const table: Table = {
    kind: 'table',
    base: lines[0]?.[0]?.base ?? 0,
    end: lines.at(-1)?.[0]?.base ?? 0,
    lefts: columns.map(({ left }) => left),
    rows: texts,
  }
  return { table, first, end }
}

function isTable(groups: readonly Line[][], columns: number, isGrid: boolean): boolean {
  const filled = groups.map((group) => new Set(group.flat().map(({ from }) => from)).size)
  if (groups.length < 2 || columns < 2 || Math.max(...filled) < 2) return false
  const full = filled.filter((count) => count > 1).length
  if (isGrid) return full * 3 >= filled.length
  const places = filled.reduce((sum, count) => sum + count, 0)
  return full * 2 >= filled.length && places >= filled.length * columns * MIN_FILLED
}

/** The right edge of the last column in a strip between rules. */
function edgeOf(column: number, columns: Aligned['columns'], { strips }: Walls) {
  const left = columns[column]?.left ?? 0
  const strip = strips.find((one) => one.left <= left + 2 && one.right > left + 2)
  const next = columns[column + 1]?.left ?? Infinity
  const isLast = strip && Number.isFinite(strip.right) && next >= strip.right - 2
  return isLast ? strip.right - 3 : undefined
}

/** Whether a rule lies between two lines: each of their cells stands on its side of it. */
function cutBetween(horizontal: readonly Rule[], above: Line, below: Line): boolean {
  const top = Math.min(...above.map(middle))
  const bottom = Math.max(...below.map(middle))
  return horizontal.some(({ at, from, to }) => {
    if (at <= top || at >= bottom) return false
    const touches = ({ left, right }: Cell) => left < to && right > from
    return (
      above.every((cell) => !touches(cell) || middle(cell) < at) &&
      below.every((cell) => !touches(cell) || middle(cell) > at) &&
      [...above, ...below].some(touches)
    )
  })
}

interface Ruled {
  columns: Aligned['columns']
  horizontal: readonly Rule[]
}

/** Repeats the text of a cell that spans rows, as no rule divides it, in each of them. */
function fillDown(texts: string[][], groups: readonly Line[][], { columns, horizontal }: Ruled) {
  for (const [column, { left, right }] of columns.entries()) {
    const x = (left + right) / 2
    const ys = horizontal.flatMap(({ at, from, to }) => (from <= x && to >= x ? [at] : []))
    const areas = Map.groupBy(groups.keys(), (n) => {
      const cells = groups[n]?.flat() ?? []
      const own = cells.find(({ from, to }) => from <= column && to >= column) ?? cells[0]
      return own ? ys.filter((at) => at < middle(own)).length : 0
    })
    for (const area of areas.values()) {
      const own = area.flatMap((n) => texts[n]?.[column] || [])
      const isOne = isOneCell(own.length, area.length, ys.length > 1)
      if (!isOne || !areCutElsewhere(area, groups, horizontal)) continue
      for (const n of area) texts[n]?.splice(column, 1, tidy(own.join(' ')))
    }
  }
}

/** Whether texts beside rows are those of one cell: they are fewer, or it is drawn and the rows are few. */
function isOneCell(texts: number, rows: number, isDrawn: boolean): boolean {
  return rows > 1 && texts > 0 && (texts < rows || (isDrawn && rows <= MAX_SPANNED))
}

/** Whether each of the rows is divided from the next by a rule that only other columns have. */
function areCutElsewhere(
  area: readonly number[],
  groups: readonly Line[][],
  horizontal: readonly Rule[],
): boolean {
  return area.slice(1).every((n) => {
    const [above, below] = [groups[n - 1]?.at(-1), groups[n]?.[0]]
    return above && below && cutBetween(horizontal, above, below)
  })
}
