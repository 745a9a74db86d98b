import {
  BASELINE_SLACK,
  type Fragment,
  middle,
  type Row,
  type Rule,
  toRows,
  toSegments,
} from './pdf-fragments.ts'
import { alignColumns, type Walls } from './pdf-table-columns.ts'
import { isTabular, toTable } from './pdf-table-grid.ts'
import { isValue } from './pdf-table-rows.ts'

const TOUCH = 3
/** Pages with more lines in a direction show drawings. */
const MAX_RULES = 400
const MAX_CELLS = 10_000
/** In points, between the parts of one rule. */
const PART_GAP = 30
/** In points: rules of a table begin and end at the same places. */
const FLUSH = 6
const MIN_WIDTH = 60
/** In points. */
const MAX_HEAD = 60
/** In heights, from the baseline of a head to what is below it. */
const HEAD_GAP = 0.8
/** A text reaches so little beyond the place that it is at, in points. */
const BESIDE = 1.5

/** The part of its height that a frame shares with one beside it. */
const BESIDE_SHARE = 0.8

/** An area with the rules in it. */
interface Area {
  left: number
  right: number
  top: number
  bottom: number
  horizontal: Rule[]
  vertical: Rule[]
}

/** The tables that lines draw, each as a fragment of its place, and the fragments that are in none. */
export function ruledTables(fragments: readonly Fragment[], rules: readonly Rule[]) {
  let rest = [...fragments]
  const tables: Fragment[] = []
  const take = (area: Area) => {
    const inside = rest.filter((fragment) => isInside(fragment, area))
    const drawn = tableIn(inside, area)
    if (!drawn) return
    const { table } = drawn
    const { left, right } = area
    tables.push({ text: '', left, right, base: table.base, height: 1, table })
    const ofTable = new Set(inside)
    rest = [...rest.filter((fragment) => !ofTable.has(fragment)), ...drawn.others]
  }
  const { grids, loose } = gridsOf(rules)
  const parts = grids.filter((area) => isPartOfWider(area, fragments, grids))
  const isPart = (area: Area) => parts.some((part) => part === area || areBeside(part, area))
  // A frame around a page may have tables within it.
  for (const area of grids.toSorted((a, b) => sizeOf(a) - sizeOf(b))) if (!isPart(area)) take(area)
  for (const area of stacksOf(loose, rest)) if (!isPartOfWider(area, rest)) take(area)
  return { tables, rest }
}

/** Areas of rules that touch each other, and the level rules that touch none. */
function gridsOf(rules: readonly Rule[]): { grids: Area[]; loose: Rule[] } {
  const [vertical = [], horizontal = []] = [false, true].map((isLevel) =>
    rules.filter(({ isHorizontal }) => isHorizontal === isLevel),
  )
  if (horizontal.length > MAX_RULES || vertical.length > MAX_RULES) return { grids: [], loose: [] }
  const left = new Set(rules)
  const areas = horizontal.flatMap((start) => {
    if (!left.delete(start)) return []
    const group = [start]
    // Grows while it is iterated.
    for (const rule of group) {
      const across = rule.isHorizontal ? vertical : horizontal
      group.push(...across.filter((other) => crosses(rule, other) && left.delete(other)))
    }
    return [areaOf(group)]
  })
  const isGrid = (area: Area) => area.vertical.length > 0 && area.horizontal.length > 1
  return {
    grids: areas.filter(isGrid),
    loose: areas.filter((area) => !isGrid(area)).flatMap((area) => area.horizontal),
  }
}

const crosses = (a: Rule, b: Rule) =>
  a.at >= b.from - TOUCH && a.at <= b.to + TOUCH && b.at >= a.from - TOUCH && b.at <= a.to + TOUCH

function areaOf(rules: readonly Rule[]): Area {
  const horizontal = rules.filter(({ isHorizontal }) => isHorizontal)
  const vertical = rules.filter(({ isHorizontal }) => !isHorizontal)
  const xs = [...horizontal.flatMap(({ from, to }) => [from, to]), ...vertical.map(({ at }) => at)]
  const ys = [...vertical.flatMap(({ from, to }) => [from, to]), ...horizontal.map(({ at }) => at)]
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
    horizontal,
    vertical,
  }
}

/** Areas between level rules of the same width that have the texts of tables between them. */
function stacksOf(loose: readonly Rule[], fragments: readonly Fragment[]): Area[] {
  const areas = stacksOfEqual(wholeRules(loose)).flatMap((stack) => tabularBands(stack, fragments))
  return areas.map((area) => {
    const whole = { ...area, top: topWithHead(area, fragments) }
    return { ...whole, horizontal: loose.filter((rule) => isWithin(rule, whole)) }
  })
}

/**
 * Whether the rows within rules are numbers of a wider table, whose labels stand before them: the rules are those above
 * its totals, as in a balance sheet, or around one of its columns. What stands in another table is no label.
 */
function isPartOfWider(area: Area, fragments: readonly Fragment[], others: readonly Area[] = []) {
  const { left, right, vertical } = area
  const isDivided = vertical.some(({ at }) => at > left + TOUCH && at < right - TOUCH)
  const apart = others.filter((one) => one.right < left - PART_GAP)
  const labels = fragments.filter(
    (one) =>
      isInside(one, { ...area, left: 0, right: left }) &&
      !isNumber(one) &&
      !apart.some((other) => isInside(one, other)),
  )
  const rows = toRows(fragments.filter((one) => isInside(one, area)))
  const bare = rows.filter(
    (row) => row.every(isNumber) && labels.some((label) => isOnLineOf(row, label)),
  )
  return !isDivided && bare.length * 2 > rows.length
}

/** Whether areas stand next to each other, as two frames around columns of one table. */
const areBeside = (one: Area, other: Area) =>
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) >
    (other.bottom - other.top) * BESIDE_SHARE &&
  [one.left - other.right, other.left - one.right].some((gap) => gap >= 0 && gap < PART_GAP)

/** A value, or what stands apart from one, such as its currency. */
const isNumber = ({ text }: Fragment) => isValue(text) || !/\p{L}/u.test(text)

const isOnLineOf = ([first]: Row, { base, height }: Fragment) =>
  first !== undefined && Math.abs(first.base - base) <= height * BASELINE_SLACK

/** The areas between rules of a stack, those below each other joined. */
function tabularBands(stack: readonly Rule[], fragments: readonly Fragment[]): Area[] {
  const areas: Area[] = []
  let open: Area | undefined
  for (const [n, { from: left, to: right, at: bottom }] of stack.entries()) {
    const top = stack[n - 1]?.at
    if (top === undefined) continue
    const band: Area = { left, right, top, bottom, horizontal: [], vertical: [] }
    const rows = toRows(fragments.filter((one) => isInside(one, band)))
    if (rows.length > 0 && !isTabular(rows)) open = undefined
    else if (open) open.bottom = bottom
    else if (rows.length > 0) {
      open = band
      areas.push(band)
    }
  }
  return areas
}

/** Where the heads begin that stand above the first rule of an area. */
function topWithHead(area: Area, fragments: readonly Fragment[]): number {
  const above = { ...area, top: area.top - MAX_HEAD, bottom: area.top }
  let { top } = area
  for (const row of toRows(fragments.filter((one) => isInside(one, above))).toReversed()) {
    const [first] = row
    const isNear = first && top - first.base < first.height * HEAD_GAP
    if (!first || !isNear || toSegments(row).length < 2) break
    top = Math.min(...row.map(({ base, height }) => base - height))
  }
  return top
}

const isWithin = ({ at, from, to }: Rule, { left, right, top, bottom }: Area) =>
  at >= top - TOUCH && at <= bottom + TOUCH && from >= left - FLUSH && to <= right + FLUSH

/** Joins the parts of rules at one height. */
function wholeRules(rules: readonly Rule[]): Rule[] {
  const whole: Rule[] = []
  const places = Map.groupBy(rules, ({ at }) => Math.round(at))
  for (const parts of places.values()) {
    const first = whole.length
    for (const part of parts.toSorted((a, b) => a.from - b.from)) {
      const last = whole.at(-1)
      const isNext = last && whole.length > first && part.from - last.to < PART_GAP
      if (isNext) last.to = Math.max(last.to, part.to)
      else whole.push({ ...part })
    }
  }
  return whole.filter(({ from, to }) => to - from > MIN_WIDTH)
}

/** Rules that begin and end at the same places, each list from top to bottom. */
function stacksOfEqual(rules: readonly Rule[]): Rule[][] {
  const stacks: Rule[][] = []
  for (const rule of rules.toSorted((a, b) => a.at - b.at)) {
    const stack = stacks.find(
      ([first]) =>
        first && Math.abs(first.from - rule.from) < FLUSH && Math.abs(first.to - rule.to) < FLUSH,
    )
    if (stack) stack.push(rule)
    else stacks.push([rule])
  }
  return stacks
}

function isInside(fragment: Fragment, { left, right, top, bottom }: Area): boolean {
  const y = middle(fragment)
  const x = (fragment.left + fragment.right) / 2
  return y > top && y < bottom && x > left && x < right
}

function places(numbers: readonly number[]): number[] {
  const distinct: number[] = []
  for (const at of numbers.toSorted((a, b) => a - b)) {
    if (distinct.length === 0 || at - (distinct.at(-1) ?? 0) > TOUCH) distinct.push(at)
  }
  return distinct
}

function tableIn(fragments: readonly Fragment[], area: Area) {
  const { horizontal, vertical, left, right } = area
  const xs = places([left, right, ...vertical.map(({ at }) => at)])
  if (xs.length * (horizontal.length + 1) > MAX_CELLS) return undefined
  const divided = fragments.flatMap((one) => dividedAt(one, vertical))
  const rows = toRows(divided)
  const walls = wallsOf(xs, vertical)
  const isGrid = xs.length > 2 && places(horizontal.map(({ at }) => at)).length > 2
  const drawn = toTable(alignColumns(rows, walls), { horizontal, isGrid, walls })
  if (!drawn) return undefined
  return {
    table: drawn.table,
    others: [...rows.slice(0, drawn.first), ...rows.slice(drawn.end)].flat(),
  }
}

const sizeOf = ({ left, right, top, bottom }: Area) => (right - left) * (bottom - top)

/** A cell lies across the strips that no rule divides at its height. */
function wallsOf(xs: readonly number[], vertical: readonly Rule[]): Walls {
  const strips = xs.slice(1).map((right, n) => ({ left: xs[n] ?? 0, right }))
  const isOpen = (at: number, y: number) =>
    !vertical.some(
      (rule) => Math.abs(rule.at - at) <= TOUCH && rule.from - 1 <= y && rule.to + 1 >= y,
    )
  return {
    strips,
    stripsOf(fragment) {
      const y = middle(fragment)
      const own = Math.max(
        0,
        strips.findLastIndex(({ left }) => left <= fragment.left + BESIDE),
      )
      let [from, to] = [own, own]
      while (from > 0 && isOpen(xs[from] ?? 0, y)) from--
      while (to < strips.length - 1 && isOpen(xs[to + 1] ?? 0, y)) to++
      return [from, to]
    },
  }
}

/** Cuts a fragment at the lines that it crosses, at the blank nearest to each. */
function dividedAt(fragment: Fragment, vertical: readonly Rule[]): Fragment[] {
  const y = middle(fragment)
  const { text, left, right } = fragment
  const cut = vertical
    .filter(({ at, from, to }) => from <= y && to >= y && at > left + 2 && at < right - 2)
    .toSorted((a, b) => b.at - a.at)
    .at(0)?.at
  if (cut === undefined) return [fragment]
  const offset = ((cut - left) / (right - left)) * text.length
  const blanks = Array.from(text.matchAll(/ /g), ({ index }) => index)
  const blank = blanks.toSorted((a, b) => Math.abs(a - offset) - Math.abs(b - offset))[0]
  if (blank === undefined) return [fragment]
  return [
    ...dividedAt({ ...fragment, text: text.slice(0, blank), right: cut - 1 }, vertical),
    { ...fragment, text: text.slice(blank + 1), left: cut + 1 },
  ]
}
