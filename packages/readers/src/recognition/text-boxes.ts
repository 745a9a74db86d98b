/** A line of text on a page: a rectangle around its centre, whose `width` runs along the text. */
export interface TextBox {
  x: number
  y: number
  width: number
  height: number
  /** Radians between -π/4 and π/4, clockwise, by which the width is askew. */
  angle: number
}

/** For each pixel, how likely it belongs to a text. */
interface TextMap {
  width: number
  height: number
  likely: Float32Array
}

/** Pixels above it belong to a text. */
const MIN_LIKELY = 0.3
/** On average over a box. */
const MIN_BOX_LIKELY = 0.4
/** The model finds the core of each line; its box is larger, by this share of area to circumference. */
const GROWTH = 1.6
const MIN_SIDE = 3
/** More than any page has. */
const MAX_BOXES = 1_000

/** The boxes of the connected texts of a map, as of Differentiable Binarization: https://arxiv.org/abs/1911.08947. */
export function boxesIn(map: TextMap): TextBox[] {
  const boxes: TextBox[] = []
  const mask = maskOf(map)
  const stack = new Int32Array(mask.length)
  for (let start = 0; start < mask.length && boxes.length < MAX_BOXES; start++) {
    if (mask[start] !== 1) continue
    const { points, sum } = takeText(map, mask, stack, start)
    const tight = smallestBox(points)
    if (Math.min(tight.width, tight.height) < MIN_SIDE) continue
    if (sum / ((tight.width + 1) * (tight.height + 1)) < MIN_BOX_LIKELY) continue
    const grown = (GROWTH * tight.width * tight.height) / (tight.width + tight.height)
    boxes.push({ ...tight, width: tight.width + grown, height: tight.height + grown })
  }
  return boxes
}

/** 1 where there is text; the gaps of a pixel between its parts are closed. */
function maskOf({ width, likely }: TextMap): Uint8Array {
  const mask = new Uint8Array(likely.length)
  for (const [at, value] of likely.entries()) {
    if (value <= MIN_LIKELY) continue
    mask[at] = 1
    const isLast = at % width === width - 1
    if (!isLast) mask[at + 1] = 1
    if (at + width < mask.length) mask[at + width] = 1
    if (!isLast && at + width + 1 < mask.length) mask[at + width + 1] = 1
  }
  return mask
}

type Point = readonly [x: number, y: number]

/** Takes the text that a pixel belongs to out of the mask: the ends of its rows, and the sum of its likelihoods. */
function takeText(
  { width, likely }: TextMap,
  mask: Uint8Array,
  stack: Int32Array,
  start: number,
): { points: Point[]; sum: number } {
  const rows = new Map<number, { left: number; right: number }>()
  let sum = 0
  let open = 0
  const push = (at: number) => {
    if (mask[at] !== 1) return
    mask[at] = 2
    stack[open++] = at
  }
  push(start)
  while (open > 0) {
    const at = stack[--open] ?? 0
    sum += likely[at] ?? 0
    const x = at % width
    const y = (at - x) / width
    const row = rows.get(y)
    if (row) {
      row.left = Math.min(row.left, x)
      row.right = Math.max(row.right, x)
    } else rows.set(y, { left: x, right: x })
    for (const above of [at - width, at, at + width]) {
      push(above)
      if (x > 0) push(above - 1)
      if (x < width - 1) push(above + 1)
    }
  }
  const points = Array.from(rows, ([y, { left, right }]): Point[] => [
    [left, y],
    [right, y],
  ]).flat()
  return { points, sum }
}

/** The smallest rectangle around points. One of its sides lies on their hull. */
function smallestBox(points: readonly Point[]): TextBox {
  const hull = hullOf(points)
  let best: TextBox | undefined
  for (const [place, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(place + 1) % hull.length] ?? [x, y]
    const box = boxAround(hull, quarterAngle(Math.atan2(nextY - y, nextX - x)))
    if (!best || box.width * box.height < best.width * best.height) best = box
  }
  return best ?? { x: 0, y: 0, width: 0, height: 0, angle: 0 }
}

/** The same direction but for quarter turns, nearest to that of the page. */
function quarterAngle(angle: number): number {
  return angle - Math.round(angle / (Math.PI / 2)) * (Math.PI / 2)
}

function boxAround(hull: readonly Point[], angle: number): TextBox {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const along = hull.map(([x, y]) => x * cos + y * sin)
  const across = hull.map(([x, y]) => y * cos - x * sin)
  const [left, right] = [Math.min(...along), Math.max(...along)]
  const [top, bottom] = [Math.min(...across), Math.max(...across)]
  const [middle, centre] = [(left + right) / 2, (top + bottom) / 2]
  return {
    x: middle * cos - centre * sin,
    y: middle * sin + centre * cos,
    width: right - left,
    height: bottom - top,
    angle,
  }
}

/** Andrew's monotone chain. */
function hullOf(points: readonly Point[]): Point[] {
  const sorted = points.toSorted(([ax, ay], [bx, by]) => ax - bx || ay - by)
  const chain = (all: readonly Point[]) => {
    const hull: Point[] = []
    for (const point of all) {
      while (isInside(hull, point)) hull.pop()
      hull.push(point)
    }
    return hull.slice(0, -1)
  }
  const hull = [...chain(sorted), ...chain(sorted.toReversed())]
  return hull.length > 0 ? hull : sorted.slice(0, 1)
}

/** Whether the last point of a chain lies within the hull that goes on with `next`. */
function isInside(hull: readonly Point[], [x, y]: Point): boolean {
  const [a, b] = [hull.at(-2), hull.at(-1)]
  if (!a || !b) return false
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) <= 0
}
