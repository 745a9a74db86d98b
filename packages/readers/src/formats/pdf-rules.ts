import { OPS } from 'pdfjs-dist'
import { multiply, type Rule } from './pdf-fragments.ts'

/** Tables have fewer lines on a page; drawings have more. */
const MAX_RULES = 2_000
/** Anything thicker is an area. */
const MAX_THICKNESS = 3
const MIN_LENGTH = 5

/** The operations of a path, as the parser numbers them, with the numbers that follow each. */
const MOVE = 0
const LINE = 1
const CURVE = 2
const QUADRATIC = 3
const ARGUMENTS: Record<number, number> = { [MOVE]: 2, [LINE]: 2, [CURVE]: 6, [QUADRATIC]: 4 }

const STROKES: ReadonlySet<unknown> = new Set([
  OPS.stroke,
  OPS.closeStroke,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
])
const FILLS: ReadonlySet<unknown> = new Set([OPS.fill, OPS.eoFill])

const SAVES: ReadonlySet<number> = new Set([OPS.save, OPS.paintFormXObjectBegin])
const RESTORES: ReadonlySet<number> = new Set([OPS.restore, OPS.paintFormXObjectEnd])

/** How a page is drawn, as far as it is used here. */
export interface Operators {
  fnArray: readonly number[]
  argsArray: readonly unknown[]
}

/** The horizontal and vertical lines that a page draws, joined where they continue each other. */
export function rulesOf({ fnArray, argsArray }: Operators, view: readonly number[]): Rule[] {
  const rules: Rule[] = []
  const matrixAt = createMatrices(view)
  for (const [index, operator] of fnArray.entries()) {
    const args: unknown = argsArray[index]
    const list: readonly unknown[] = Array.isArray(args) ? args : []
    const matrix = matrixAt(operator, list)
    if (operator === OPS.constructPath) addPath(rules, list, matrix)
    if (rules.length > MAX_RULES) return []
  }
  return joined(rules)
}

/** Follows how each operation changes the coordinates. */
export function createMatrices(view: readonly number[]) {
  const states: (readonly number[])[] = []
  let matrix = view
  return (operator: number, args: readonly unknown[]): readonly number[] => {
    if (SAVES.has(operator)) states.push(matrix)
    if (RESTORES.has(operator)) matrix = states.pop() ?? view
    if (operator === OPS.transform) matrix = multiply(matrix, toNumbers(args))
    if (operator === OPS.paintFormXObjectBegin) matrix = multiply(matrix, toNumbers(args[0]))
    return matrix
  }
}

const toNumbers = (value: unknown): number[] =>
  Array.isArray(value) || ArrayBuffer.isView(value)
    ? Array.from(Object.values(value), Number).slice(0, 6)
    : []

function addPath(rules: Rule[], [paint, paths]: readonly unknown[], matrix: readonly number[]) {
  const isStroked = STROKES.has(paint)
  if (!isStroked && !FILLS.has(paint)) return
  const path: unknown = Array.isArray(paths) ? paths[0] : undefined
  if (!(path instanceof Float32Array)) return
  for (const points of subpaths(path, matrix)) {
    if (rules.length > MAX_RULES) return
    if (points.length < 2) continue
    if (!addThin(rules, points) && isStroked) addEdges(rules, points)
  }
}

/** Adds a path if it is as thin as a line; returns whether it is. */
function addThin(rules: Rule[], points: readonly Point[]): boolean {
  const { left, right, top, bottom } = boxOf(points)
  const [width, height] = [right - left, bottom - top]
  if (Math.min(width, height) > MAX_THICKNESS) return false
  if (height <= width) add(rules, true, (top + bottom) / 2, left, right)
  else add(rules, false, (left + right) / 2, top, bottom)
  return true
}

function addEdges(rules: Rule[], points: readonly Point[]) {
  for (const [index, [x, y]] of points.entries()) {
    const next = points[index + 1]
    if (!next) continue
    if (Math.abs(next[1] - y) < 1) add(rules, true, y, x, next[0])
    else if (Math.abs(next[0] - x) < 1) add(rules, false, x, y, next[1])
  }
}

function add(rules: Rule[], isHorizontal: boolean, at: number, one: number, other: number) {
  if (Math.abs(one - other) < MIN_LENGTH || !Number.isFinite(at + one + other)) return
  rules.push({ isHorizontal, at, from: Math.min(one, other), to: Math.max(one, other) })
}

type Point = readonly [number, number]

/** The straight parts of a path; those with curves are left out. */
function* subpaths(path: Float32Array, matrix: readonly number[]): Generator<Point[]> {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = matrix
  const point = (x = 0, y = 0): Point => [a * x + c * y + e, b * x + d * y + f]
  let points: Point[] = []
  for (let at = 0; at < path.length; ) {
    const operation = path[at] ?? 0
    if (operation === MOVE) {
      yield points
      points = []
    }
    if (operation === MOVE || operation === LINE) points.push(point(path[at + 1], path[at + 2]))
    // A curve ends a line, and what follows it begins another one somewhere else.
    else if (operation in ARGUMENTS) points = []
    else if (points[0]) points.push(points[0])
    at += 1 + (ARGUMENTS[operation] ?? 0)
  }
  yield points
}

function boxOf(points: readonly Point[]) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
  for (const [x, y] of points) {
    box.left = Math.min(box.left, x)
    box.right = Math.max(box.right, x)
    box.top = Math.min(box.top, y)
    box.bottom = Math.max(box.bottom, y)
  }
  return box
}

const TOUCH = 2.5

function joined(rules: readonly Rule[]): Rule[] {
  const sorted = rules.toSorted(
    (a, b) =>
      +a.isHorizontal - +b.isHorizontal ||
      Math.round(a.at / TOUCH) - Math.round(b.at / TOUCH) ||
      a.from - b.from,
  )
  const result: Rule[] = []
  for (const rule of sorted) {
    const last = result.at(-1)
    const isSame =
      last?.isHorizontal === rule.isHorizontal &&
      Math.abs(last.at - rule.at) <= TOUCH &&
      rule.from <= last.to + TOUCH &&
      rule.to >= last.from - TOUCH
    if (last && isSame) {
      last.from = Math.min(last.from, rule.from)
      last.to = Math.max(last.to, rule.to)
    } else result.push({ ...rule })
  }
  return result
}
