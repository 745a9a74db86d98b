import { type Fragment, type Rule, type Table, textOf, toRows } from './pdf-fragments.ts'

const TOUCH = 3
/** A column without text is kept if it is wide enough to be meant. */
const MIN_EMPTY_COLUMN = 12
/** Pages with more lines in a direction show drawings. */
const MAX_RULES = 400
const MAX_CELLS = 10_000

interface Grid {
  /** Where its lines cross, from left to right and from top to bottom. */
  xs: number[]
  ys: number[]
  horizontal: Rule[]
  vertical: Rule[]
}

/** The tables that lines draw, each as a fragment of its place, and the fragments that are in none. */
export function ruledTables(fragments: readonly Fragment[], rules: readonly Rule[]) {
  let rest = [...fragments]
  const tables: Fragment[] = []
  for (const grid of gridsOf(rules)) {
    const inside = rest.filter((fragment) => isInside(fragment, grid))
    const table = toTable(inside, grid)
    if (!table) continue
    const [left, right] = [grid.xs[0] ?? 0, grid.xs.at(-1) ?? 0]
    tables.push({ text: '', left, right, base: table.base, height: 1, table })
    const insideFragments = new Set(inside)
    rest = rest.filter((fragment) => !insideFragments.has(fragment))
  }
  return { tables, rest }
}

/** Lines that touch each other, where they divide an area in two directions. */
function gridsOf(rules: readonly Rule[]): Grid[] {
  const horizontal = rules.filter(({ isHorizontal }) => isHorizontal)
  const vertical = rules.filter(({ isHorizontal }) => !isHorizontal)
  if (horizontal.length > MAX_RULES || vertical.length > MAX_RULES) return []
  const left = new Set(rules)
  return horizontal.flatMap((start) => {
    if (!left.delete(start)) return []
    const group = [start]
    // Grows while it is iterated.
    for (const rule of group) {
      const across = rule.isHorizontal ? vertical : horizontal
      group.push(...across.filter((other) => crosses(rule, other) && left.delete(other)))
    }
    const grid = toGrid(group)
    return grid.xs.length > 2 && grid.ys.length > 2 && grid.xs.length * grid.ys.length <= MAX_CELLS
      ? [grid]
      : []
  })
}

function toGrid(rules: readonly Rule[]): Grid {
  const horizontal = rules.filter(({ isHorizontal }) => isHorizontal)
  const vertical = rules.filter(({ isHorizontal }) => !isHorizontal)
  return { horizontal, vertical, xs: places(vertical), ys: places(horizontal) }
}

const crosses = (a: Rule, b: Rule) =>
  a.at >= b.from - TOUCH && a.at <= b.to + TOUCH && b.at >= a.from - TOUCH && b.at <= a.to + TOUCH

function places(rules: readonly Rule[]): number[] {
  const distinct: number[] = []
  for (const at of rules.map((rule) => rule.at).toSorted((a, b) => a - b)) {
    if (distinct.length === 0 || at - (distinct.at(-1) ?? 0) > TOUCH) distinct.push(at)
  }
  return distinct
}

const middle = ({ base, height }: Fragment) => base - height * 0.3

function isInside(fragment: Fragment, { xs, ys }: Grid): boolean {
  const y = middle(fragment)
  const x = (fragment.left + fragment.right) / 2
  return y > (ys[0] ?? 0) && y < (ys.at(-1) ?? 0) && x > (xs[0] ?? 0) && x < (xs.at(-1) ?? 0)
}

function toTable(fragments: readonly Fragment[], grid: Grid): Table | undefined {
  const { xs, ys } = grid
  const cells = ys.slice(1).map(() => xs.slice(1).map((): Fragment[] => []))
  const ownerOf = owners(grid)
  for (const fragment of fragments.flatMap((one) => dividedAt(one, grid))) {
    const y = middle(fragment)
    const row = ys.findLastIndex((top) => top <= y)
    const column = xs.findLastIndex((left) => left <= fragment.left + 1.5)
    const [r, c] = ownerOf[row]?.[column] ?? [0, 0]
    cells[r]?.[c]?.push(fragment)
  }
  const texts = cells.map((row) => row.map((cell) => toRows(cell).map(textOf).join(' ')))
  const rows = texts.filter((row) => row.some((text) => text !== ''))
  const columns = xs.slice(1).flatMap((right, c) => {
    const isWide = right - (xs[c] ?? 0) >= MIN_EMPTY_COLUMN
    return isWide || rows.some((row) => row[c] !== '') ? [c] : []
  })
  const filled = rows.map((row) => row.filter((text) => text !== '').length)
  if (rows.length < 2 || columns.length < 2 || Math.max(...filled) < 2) return undefined
  const bases = fragments.map(({ base }) => base)
  return {
    kind: 'table',
    base: Math.min(...bases),
    end: Math.max(...bases),
    lefts: columns.map((c) => xs[c] ?? 0),
    rows: rows.map((row) => columns.map((c) => row[c] ?? '')),
  }
}

/** The first cell of the merged cell that each cell is part of: no line is between them. */
function owners({ xs, ys, horizontal, vertical }: Grid): [number, number][][] {
  const covers = (rules: readonly Rule[], at: number, across: number) =>
    rules.some(
      (rule) => Math.abs(rule.at - at) <= TOUCH && rule.from <= across && rule.to >= across,
    )
  const between = (places: readonly number[], index: number) =>
    ((places[index] ?? 0) + (places[index + 1] ?? 0)) / 2
  const result: [number, number][][] = []
  for (let r = 0; r < ys.length - 1; r++) {
    const row: [number, number][] = []
    result.push(row)
    for (let c = 0; c < xs.length - 1; c++) {
      const isLeftOpen = c > 0 && !covers(vertical, xs[c] ?? 0, between(ys, r))
      const isTopOpen = r > 0 && !covers(horizontal, ys[r] ?? 0, between(xs, c))
      row.push((isLeftOpen && row[c - 1]) || (isTopOpen && result[r - 1]?.[c]) || [r, c])
    }
  }
  return result
}

/** Cuts a fragment at the lines that it crosses, at the blank nearest to each. */
function dividedAt(fragment: Fragment, grid: Grid): Fragment[] {
  const y = middle(fragment)
  const cut = grid.vertical
    .filter(
      ({ at, from, to }) =>
        from <= y && to >= y && at > fragment.left + 2 && at < fragment.right - 2,
    )
    .toSorted((a, b) => b.at - a.at)
    .at(0)?.at
  if (cut === undefined) return [fragment]
  const { text, left, right } = fragment
  const offset = ((cut - left) / (right - left)) * text.length
  const blanks = Array.from(text.matchAll(/ /g), ({ index }) => index)
  const blank = blanks.toSorted((a, b) => Math.abs(a - offset) - Math.abs(b - offset))[0]
  if (blank === undefined) return [fragment]
  return [
    ...dividedAt({ ...fragment, text: text.slice(0, blank), right: cut - 1 }, grid),
    { ...fragment, text: text.slice(blank + 1), left: cut + 1 },
  ]
}
