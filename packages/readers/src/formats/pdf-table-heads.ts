import type { Rule } from './pdf-fragments.ts'
import { type Aligned, CENTRED, type Cell } from './pdf-table-columns.ts'
import { bodyOf, type Line } from './pdf-table-rows.ts'

/** A rule below a head is at most this many heights below its baseline. */
const UNDER = 1.3

type Columns = Aligned['columns']

/** Heads above several columns span them: those above the same rule, or those that they stand in the middle of. */
export function widenHeads(
  lines: readonly Line[],
  columns: Columns,
  horizontal: readonly Rule[] = [],
): Cell[][] {
  const body = bodyOf(lines)
  return lines.map((line, n) => {
    const next = lines[n + 1]
    if (n >= body || !next || line.length === columns.length) return [...line]
    return line.map((cell, c) => {
      const room = {
        from: (line[c - 1]?.to ?? 0) + 1,
        to: (line[c + 1]?.from ?? columns.length) - 1,
      }
      if (cell.from < room.from) return cell
      const span = spanAboveRule(cell, columns, horizontal) ?? centredSpan(cell, room, columns)
      return span && span.from >= room.from && span.to <= room.to && isDivided(span, next)
        ? { ...cell, ...span }
        : cell
    })
  })
}

interface Span {
  from: number
  to: number
}

/** Whether several texts stand below a head. */
const isDivided = ({ from, to }: Span, next: Line) =>
  next.filter((cell) => cell.from >= from && cell.to <= to).length > 1

function spanAboveRule(
  cell: Cell,
  columns: Columns,
  horizontal: readonly Rule[],
): Span | undefined {
  const { base, height, left, right } = cell
  const rule = horizontal.find(
    ({ at, from, to }) =>
      at > base - 1 && at < base + height * UNDER && from <= left + 2 && to >= right - 2,
  )
  if (!rule) return undefined
  const isCovered = (column: Columns[number]) => {
    const centre = (column.left + column.right) / 2
    return centre > rule.from && centre < rule.to
  }
  const span = { from: columns.findIndex(isCovered), to: columns.findLastIndex(isCovered) }
  return span.from >= 0 && span.to - span.from < columns.length - 1 ? span : undefined
}

function centredSpan(cell: Cell, room: Span, columns: Columns): Span | undefined {
  const centre = (cell.left + cell.right) / 2
  const isCentred = ({ from, to }: Span) => {
    const [left, right] = [columns[from]?.left ?? 0, columns[to]?.right ?? 0]
    return Math.abs((left + right) / 2 - centre) <= CENTRED
  }
  if (cell.from === cell.to && isCentred(cell)) return undefined
  for (let from = room.from; from <= cell.from; from++) {
    for (let to = room.to; to >= Math.max(cell.to, from + 1); to--) {
      if (isCentred({ from, to })) return { from, to }
    }
  }
  return undefined
}
