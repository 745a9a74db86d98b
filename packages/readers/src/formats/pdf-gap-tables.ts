import { median } from '../median.ts'
import { type Row, type Table, toSegments } from './pdf-fragments.ts'
import { type Aligned, alignColumns } from './pdf-table-columns.ts'
import { widenHeads } from './pdf-table-heads.ts'
import { isValue, type Line, textsOf, toRowGroups } from './pdf-table-rows.ts'

/** Rows of a table are at most this many heights apart. */
const ROW_GAP = 3.2
/** A heading between tables is larger than their texts by this factor. */
const HEADING_FACTOR = 1.15
/** Texts of more characters are prose. */
const PROSE = 28
/** Lines with one text that may follow each other within a table. */
const MAX_SINGLE = 3
/** The share of the width of rows that texts fill. */
const MAX_DENSITY = 0.85
/** The share of the places of a table that have texts. */
const MIN_FILLED = 0.3
/** Dots that lead from an entry of a table of contents to its page. */
const LEADERS = /\.{4}|(?:\. ){4}/

/** The table that begins with the first of these rows, and how many of them it has; undefined if none begins there. */
export function gapTable(rows: readonly Row[]): { table: Table; rows: number } | undefined {
  const run = runOf(rows)
  if (run.length < 2) return undefined
  const aligned = consistent(run)
  const groups = toRowGroups(aligned, { isCut: () => false, areRuled: false })
  while (groups.at(-1)?.every((line) => line.length < 2)) groups.pop()
  const count = groups.flat().length
  const { columns } = aligned
  if (!isTable(run.slice(0, count), aligned.lines.slice(0, count), columns.length)) return undefined
  return {
    rows: count,
    table: {
      kind: 'table',
      base: rows[0]?.[0]?.base ?? 0,
      end: rows[count - 1]?.[0]?.base ?? 0,
      lefts: columns.map(({ left }) => left),
      rows: groups.map((group) => textsOf(group, columns.length)),
    },
  }
}

/** The rows from the first on that may belong to one table. */
function runOf(rows: readonly Row[]): Row[] {
  const run: Row[] = []
  let single = 0
  for (const row of rows) {
    const above = run.at(-1)
    const segments = toSegments(row)
    if (above && isElsewhere(above, row, segments.length)) break
    single = segments.length > 1 ? 0 : single + 1
    if (single > MAX_SINGLE) break
    run.push(row)
  }
  return run
}

/** Whether a row is too far below another one, or a heading. */
function isElsewhere(above: Row, below: Row, texts: number): boolean {
  const height = Math.max(above[0]?.height ?? 0, below[0]?.height ?? 0)
  const gap = height > 0 ? ((below[0]?.base ?? 0) - (above[0]?.base ?? 0)) / height : 0
  const factor = (below[0]?.height ?? 0) / Math.max(above[0]?.height ?? 0, 1)
  return gap > ROW_GAP || (texts === 1 && factor > HEADING_FACTOR)
}

/** Aligns the rows up to the first of which most texts lie across the columns of the rows above. */
function consistent(run: readonly Row[]): Aligned {
  const aligned = alignColumns(run)
  const body = aligned.lines.findIndex((line) => line.some(({ text }) => isValue(text)))
  const end = aligned.lines.findIndex((line, n) => {
    const across = line.filter(({ from, to }) => from < to).length
    return n > Math.max(body, 1) && line.length > 1 && across * 2 > line.length
  })
  const { columns, lines } = end < 0 ? aligned : alignColumns(run.slice(0, end))
  return { columns, lines: widenHeads(lines, columns) }
}

function isTable(rows: readonly Row[], lines: readonly Line[], columns: number): boolean {
  const full = rows.map((row) => toSegments(row)).filter((row) => row.length > 1)
  if (columns < 2 || full.length < (columns > 2 ? 2 : 3)) return false
  if (full.every(isJustified) || isDense(full)) return false
  if (columns < 3 && isContents(rows)) return false
  const cells = lines.flat()
  return cells.length >= lines.length * columns * MIN_FILLED && !isProse(cells, columns)
}

/** Whether rows are those of a table of contents. */
function isContents(rows: readonly Row[]): boolean {
  const leaders = rows.filter((row) => row.some(({ text }) => LEADERS.test(text)))
  return leaders.length * 3 > rows.length
}

/** Whether columns are those of prose: one of them may be, beside numbers. */
function isProse(cells: Line, columns: number): boolean {
  const long = Array.from({ length: columns }, (_, column) =>
    cells.filter(({ from }) => from === column).map(({ text }) => text.length),
  ).filter((lengths) => median(lengths) > PROSE)
  if (long.length === 1 && cells.some(({ text }) => isValue(text))) return false
  return long.length > 1 || (long.length === 1 && columns === 2)
}

/** Whether texts fill most of the width of rows and few are numbers: they are lines of prose with wide blanks. */
function isDense(rows: readonly Row[]): boolean {
  const shares = rows.map((row) => {
    const width = (row.at(-1)?.right ?? 0) - (row[0]?.left ?? 0)
    return row.reduce((sum, { left, right }) => sum + right - left, 0) / Math.max(width, 1)
  })
  const texts = rows.flat()
  const values = texts.filter(({ text }) => isValue(text)).length
  return median(shares) > MAX_DENSITY && values < texts.length * 0.3
}

/** Whether a row is a line of words that equal blanks spread over its width. */
function isJustified(row: Row): boolean {
  const gaps = row.slice(1).map(({ left }, n) => left - (row[n]?.right ?? 0))
  const isEven = Math.max(...gaps) - Math.min(...gaps) < 1
  return gaps.length > 1 && isEven && !row.some(({ text }) => isValue(text))
}
