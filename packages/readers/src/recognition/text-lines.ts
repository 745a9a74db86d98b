import { median } from '../median.ts'
import type { TextBox } from './text-boxes.ts'

export interface ReadBox extends TextBox {
  text: string
}

/** Rows with text on both sides of a gap, from which on the sides are columns of prose. */
const MIN_COLUMN_ROWS = 6
/** Average characters of a box in a column; with fewer, the columns are those of a table. */
const MIN_PROSE_LINE = 20
/** Times the usual distance between rows; a larger one begins a paragraph. */
const PARAGRAPH_GAP = 1.5

/** The text of a page in reading order: prose column by column, anything else row by row. */
export function linesOf(boxes: readonly ReadBox[]): string {
  return inOrder(rowsOf(straightened(boxes))).join('\n')
}

/** Turns the places of the boxes by the skew of the page. */
function straightened(boxes: readonly ReadBox[]): ReadBox[] {
  const angles = boxes.filter(({ width, height }) => width > height).map(({ angle }) => angle)
  const skew = median(angles)
  const [cos, sin] = [Math.cos(skew), Math.sin(skew)]
  return boxes.map((box) => ({
    ...box,
    x: box.x * cos + box.y * sin,
    y: box.y * cos - box.x * sin,
  }))
}

interface Row {
  y: number
  height: number
  /** From left to right. */
  boxes: ReadBox[]
}

/** Boxes whose centres are about as high stand in a row. */
function rowsOf(boxes: readonly ReadBox[]): Row[] {
  const rows: Row[] = []
  for (const box of boxes.toSorted((a, b) => a.y - b.y)) {
    const last = rows.at(-1)
    const isSame = last && box.y - last.y < Math.min(last.height, box.height) / 2
    if (isSame) last.boxes.push(box)
    else rows.push({ y: box.y, height: box.height, boxes: [box] })
  }
  for (const { boxes: all } of rows) all.sort((a, b) => a.x - b.x)
  return rows
}

function inOrder(rows: readonly Row[]): string[] {
  const lines: string[] = []
  let across: Row[] = []
  const endAcross = () => {
    lines.push(...asLines(across))
    across = []
  }
  for (let from = 0; from < rows.length; ) {
    const columns = columnsFrom(rows, from)
    if (columns) {
      endAcross()
      for (const side of [columns.left, columns.right]) lines.push(...inOrder(rowsOf(side)), '')
      from = columns.end
    } else {
      const row = rows[from++]
      if (row) across.push(row)
    }
  }
  endAcross()
  return trimmed(lines)
}

interface Gap {
  left: number
  right: number
}

/** The columns of prose on both sides of a gap that all rows from `from` to `end` have. */
function columnsFrom(rows: readonly Row[], from: number) {
  let gaps: Gap[] = [{ left: Number.NEGATIVE_INFINITY, right: Number.POSITIVE_INFINITY }]
  let columns: { left: ReadBox[]; right: ReadBox[]; end: number } | undefined
  for (let end = from; end < rows.length; end++) {
    const row = rows[end]
    if (!row) break
    gaps = commonGaps(gaps, row)
    if (gaps.length === 0) break
    columns = sidesOf(rows.slice(from, end + 1), gaps, end + 1) ?? columns
    // Once there are columns, they end where their gap does.
    if (columns && columns.end < end + 1) break
  }
  return columns
}

/** The parts of gaps that the boxes of a row leave free. */
function commonGaps(gaps: readonly Gap[], { boxes }: Row): Gap[] {
  return boxes.reduce<Gap[]>(
    (left, box) => {
      const [start, end] = [box.x - box.width / 2, box.x + box.width / 2]
      return left
        .flatMap((gap) => [
          { left: gap.left, right: Math.min(gap.right, start) },
          { left: Math.max(gap.left, end), right: gap.right },
        ])
        .filter((gap) => gap.right - gap.left > box.height / 2)
    },
    [...gaps],
  )
}

function sidesOf(rows: readonly Row[], gaps: readonly Gap[], end: number) {
  const boxes = rows.flatMap((row) => row.boxes)
  for (const { left, right } of gaps) {
    if (!(Number.isFinite(left) && Number.isFinite(right))) continue
    const middle = (left + right) / 2
    const sides = [boxes.filter(({ x }) => x < middle), boxes.filter(({ x }) => x > middle)]
    const [before = [], after = []] = sides
    if (isProse(before) && isProse(after)) return { left: before, right: after, end }
  }
  return undefined
}

function isProse(boxes: readonly ReadBox[]): boolean {
  const characters = boxes.reduce((sum, { text }) => sum + text.length, 0)
  return boxes.length >= MIN_COLUMN_ROWS && characters >= boxes.length * MIN_PROSE_LINE
}

/** A line for each row, with an empty one before a paragraph. */
function asLines(rows: readonly Row[]): string[] {
  const usual = median(rows.slice(1).map(({ y }, place) => y - (rows[place]?.y ?? y)))
  return rows.flatMap(({ y, boxes }, place) => {
    const isParagraph = place > 0 && y - (rows[place - 1]?.y ?? y) > PARAGRAPH_GAP * usual
    const line = boxes.map(({ text }) => text).join(' ')
    return isParagraph ? ['', line] : [line]
  })
}

const trimmed = (lines: readonly string[]) => lines.join('\n').trim().split('\n')
