import { BLANK, type Row, SEGMENT_GAP, type Table, tidy, toSegments } from './pdf-fragments.ts'

/** Rows of a table are at most this many heights apart. */
const ROW_GAP = 3.2
/** Lines of one cell are at most this many heights apart. */
const LINE_GAP = 1.45
/** A heading between tables is larger than their texts by this factor. */
const HEADING_FACTOR = 1.15
/** Rows that are closer than this many heights are one, whose cells have different numbers of lines. */
const SAME_ROW = 0.95
/** Lines of a cell are closer than rows by this factor. */
const TIGHT = 0.85
/** Columns are at least this many heights apart. */
const COLUMN_GAP = 0.7
/** Texts of more characters are prose. */
const PROSE = 28
const MAX_COLUMNS = 60
/** Dots that lead from an entry of a table of contents to its page. */
const LEADERS = /\.{4}|(?:\. ){4}/
const NUMBER = /^[-+−(]?[\p{Sc}]?\s?\d[\d.,\s'’]*\)?\s?[%\p{Sc}\p{L}]{0,3}$/u

interface Column {
  left: number
  right: number
}

/** The table that begins with the first of these rows, and how many of them it has; undefined if none begins there. */
export function gapTable(rows: readonly Row[]): { table: Table; rows: number } | undefined {
  const { tableRows, columns } = alignedRows(rows)
  const [first] = tableRows
  if (!first || !isTable(tableRows, columns)) return undefined
  const texts = tableRows.map((row) => toCells(row, columns))
  return {
    rows: tableRows.length,
    table: {
      kind: 'table',
      base: first[0]?.base ?? 0,
      end: tableRows.at(-1)?.[0]?.base ?? 0,
      lefts: columns.map(({ left }) => left),
      rows: withWrapped(texts, tableRows),
    },
  }
}

/** The rows from the first on whose texts lie in common columns, up to the last row with several. */
function alignedRows(rows: readonly Row[]): { tableRows: Row[]; columns: readonly Column[] } {
  const tableRows: Row[] = []
  let columns: readonly Column[] = []
  for (const row of rows) {
    const before = tableRows.at(-1)
    // Where columns are close, a cell may nearly reach the next.
    const fitting = [SEGMENT_GAP, BLANK]
      .map((gap) => toSegments(row, gap))
      .map((cells) => ({ cells, wider: widened(columns, cells) }))
      .find(({ wider }) => wider)
    if (!fitting?.wider || (before ? isElsewhere(before, row) : fitting.cells.length < 2)) break
    columns = fitting.wider
    tableRows.push(fitting.cells)
  }
  const full = tableRows.findLastIndex((row) => row.length > 1) + 1
  return { tableRows: tableRows.slice(0, full + wrappedAfter(tableRows, full, columns)), columns }
}

/** The number of rows after the last with several texts that continue cells of it. */
function wrappedAfter(rows: readonly Row[], full: number, columns: readonly Column[]): number {
  const [label, second] = columns
  const gaps = rows.slice(1, full).flatMap((row, n) => {
    const above = rows[n]
    return above && row.length > 1 ? [distance(above, row)] : []
  })
  const rowGap = Math.min(...gaps)
  const end = rows.findIndex((row, n) => {
    const [first] = row
    const above = rows[n - 1]
    if (n < full || !first || !above) return false
    const gap = distance(above, row)
    if (gap > LINE_GAP || first.left > (label?.right ?? 0)) return gap > LINE_GAP
    const isWithin = first.right < (second?.left ?? 0) && gap < rowGap * TIGHT
    return !isWithin && gap >= SAME_ROW
  })
  return full > 0 ? (end < 0 ? rows.length : end) - full : 0
}

/** Whether a row is too far below another one, or a heading. */
function isElsewhere(above: Row, below: Row): boolean {
  const factor = (below[0]?.height ?? 0) / Math.max(above[0]?.height ?? 0, 1)
  return distance(above, below) > ROW_GAP || (below.length === 1 && factor > HEADING_FACTOR)
}

function distance(above: Row, below: Row): number {
  const height = Math.max(above[0]?.height ?? 0, below[0]?.height ?? 0)
  return height > 0 ? ((below[0]?.base ?? 0) - (above[0]?.base ?? 0)) / height : 0
}

/** The columns with those of another row; undefined if a text of it lies across two of them. */
function widened(columns: readonly Column[], cells: Row): Column[] | undefined {
  const wider = columns.map((column) => ({ ...column }))
  const occupied = new Set<Column>()
  for (const { left, right, height } of cells) {
    const slack = height * COLUMN_GAP * 0.5
    const over = wider.filter(
      (column) => left < column.right + slack && right > column.left - slack,
    )
    const [column] = over
    if (over.length > 1 || (column && occupied.has(column))) return undefined
    if (column) {
      column.left = Math.min(column.left, left)
      column.right = Math.max(column.right, right)
      occupied.add(column)
    } else {
      const column = { left, right }
      wider.push(column)
      occupied.add(column)
    }
  }
  if (wider.length > MAX_COLUMNS) return undefined
  return wider.toSorted((a, b) => a.left - b.left)
}

function isTable(rows: readonly Row[], columns: readonly Column[]): boolean {
  const full = rows.filter((row) => row.length > 1)
  if (columns.length < 2 || full.length < (columns.length > 2 ? 2 : 3)) return false
  if (full.every(isJustified)) return false
  const cells = rows.flat()
  if (cells.filter(({ text }) => LEADERS.test(text)).length * 3 > rows.length) return false
  if (cells.length < rows.length * columns.length * 0.3) return false
  const prose = columns.filter((column) => {
    const own = cells.filter(({ left }) => left >= column.left && left <= column.right)
    return median(own.map(({ text }) => text.length)) > PROSE
  })
  const isLong = prose.length > 1 || (prose.length === 1 && columns.length === 2)
  return !isLong || (prose.length === 1 && cells.some(({ text }) => NUMBER.test(text)))
}

/** Whether a row is a line of words that equal blanks spread over its width. */
function isJustified(row: Row): boolean {
  const gaps = row.slice(1).map(({ left }, n) => left - (row[n]?.right ?? 0))
  const isEven = Math.max(...gaps) - Math.min(...gaps) < 1
  return gaps.length > 1 && isEven && !row.some(({ text }) => NUMBER.test(text))
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

function toCells(row: Row, columns: readonly Column[]): string[] {
  const cells = columns.map(() => '')
  for (const { text, left } of row) {
    const column = columns.findLastIndex((one) => one.left <= left + 0.1)
    if (column >= 0) cells[column] = tidy(`${cells[column]} ${text}`)
  }
  return cells
}

/** Joins lines that continue cells with the row above. */
function withWrapped(texts: readonly string[][], rows: readonly Row[]): string[][] {
  const result: string[][] = []
  const gaps = rows.slice(1).map((row, n) => distance(rows[n] ?? row, row))
  const begins = gaps.filter((_, n) => isWhole(texts[n + 1] ?? []))
  const rowGap = begins.length > 0 ? Math.min(...begins) : Math.max(...gaps)
  for (const [n, cells] of texts.entries()) {
    const above = result.at(-1)
    const gap = gaps[n - 1] ?? Infinity
    const isPart = above && (gap < SAME_ROW || continues(cells, above, gap, rowGap))
    if (isPart) result[result.length - 1] = above.map((text, c) => tidy(`${text} ${cells[c]}`))
    else result.push([...cells])
  }
  return result
}

/** Whether cells begin a row rather than continue the one above: every column has a text, or the first and a number do. */
function isWhole([first, ...more]: readonly string[]): boolean {
  return (
    first !== '' && (more.every((text) => text !== '') || more.some((text) => NUMBER.test(text)))
  )
}

/** Whether cells are the next lines of those above them, `gap` heights below. */
function continues(cells: string[], above: string[], gap: number, rowGap: number): boolean {
  const filled = cells.filter((text) => text !== '')
  if (gap > LINE_GAP || filled.length === cells.length) return false
  if (!cells.every((text, c) => text === '' || above[c] !== '')) return false
  const isWords = cells[0] === '' && !filled.some((text) => NUMBER.test(text))
  return isWords || gap < rowGap * TIGHT
}
