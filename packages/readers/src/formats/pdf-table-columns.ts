import { type Fragment, type Row, SEGMENT_GAP, tidy, toSegments } from './pdf-fragments.ts'

/** Texts with a gap of fewer heights are parts of one cell. */
const CELL_GAP = 0.7
/** Texts that overlap by less than this many heights are beside each other. */
const SLACK = 0.3
const MAX_COLUMNS = 60
/** In points: edges that differ by less are the same. */
const FLUSH = 3
/** In points: a text is in the middle of its columns if it is this near. */
export const CENTRED = 4
/** Dots that lead from a label to its value. */
const LEADERS = /(?<!\s)\s*(?:\.\s?){4,}$/
/** Signs that stand apart from the number that they belong to. */
const BEFORE_NUMBER = /^[\p{Sc}<>~≈±]{1,2}$/u
const AFTER_NUMBER = /^(?:[%)*†‡§¶]{1,3}|[a-z]\)?)$/u
const STARTS_NUMBER = /^[\d.(-]/
const ENDS_NUMBER = /\d$/
const NUMBER_WORD = /^(?:[-+−(\p{Sc}]{0,2}\d[\d.,–-]*[)%*]{0,2}|[-–—]|\([\p{L}%]{1,4}\))$/u

interface Range {
  left: number
  right: number
}

/** A text of a table with the columns that it spans. */
export interface Cell extends Fragment {
  from: number
  to: number
}

export interface Aligned {
  /** The extents of the texts in each column. */
  columns: Range[]
  /** The cells of each row of texts. */
  lines: Cell[][]
}

/** Texts that stand below each other. */
interface Cluster extends Range {
  /** The rows that have a text in it. */
  rows: Set<number>
}

interface Placed {
  row: number
  segment: Fragment
  /** To its left in the same row. */
  before: Fragment | undefined
  /** The strips between upright rules that it may use, and whether it is alone there. */
  strips: Strips
  isAlone: boolean
  clusters: Cluster[]
}

/** The first and the last of the strips that a cell takes. */
export type Strips = readonly [from: number, to: number]

/** The columns that upright rules suggest: the strips between them, from left to right. */
export interface Walls {
  strips: readonly Range[]
  stripsOf(fragment: Fragment): Strips
}

const NO_WALLS: Walls = { strips: [{ left: -Infinity, right: Infinity }], stripsOf: () => [0, 0] }
/** A strip without text is a column if it is at least this wide, in points. */
const MIN_EMPTY_COLUMN = 12

/**
 * Finds the columns of all rows together: texts below each other are a column, and a text that lies across columns which
 * other rows have side by side spans them.
 */
export function alignColumns(rows: readonly Row[], walls: Walls = NO_WALLS): Aligned {
  const placed = rows.flatMap((row, n) => placedIn(row, n, walls))
  const { strips } = walls
  const byStrip = strips.map(({ left, right }, strip) => {
    const own = placed.filter(({ strips: [from, to] }) => from === strip && to === strip)
    const isMeant = right - left >= MIN_EMPTY_COLUMN && strips.length > 1
    if (own.length === 0 && isMeant) return [{ left, right, rows: new Set<number>() }]
    return clustersOf(own)
  })
  for (const one of placed) {
    const [from, to] = one.strips
    if (from === to) continue
    const clusters = byStrip.slice(from, to + 1).flat()
    one.clusters = one.isAlone ? clusters : spannedBy(one.segment, clusters)
  }
  const order = byStrip
    .flat()
    .toSorted((a, b) => a.left - b.left)
    .slice(0, MAX_COLUMNS)
  const places = new Map(order.map((cluster, n) => [cluster, n]))
  const lines = rows.map((): Cell[] => [])
  for (const { row, segment, clusters } of placed) {
    const columns = clusters.flatMap((cluster) => places.get(cluster) ?? [])
    if (columns.length === 0) continue
    const text = tidy(segment.text.replace(LEADERS, ''))
    const [from, to] = [Math.min(...columns), Math.max(...columns)]
    lines[row]?.push(...divided({ ...segment, text, from, to }))
  }
  return { columns: order.map(({ left, right }) => ({ left, right })), lines }
}

/** Numbers that only blanks divide stand in one column each. */
function divided(cell: Cell): Cell[] {
  const { text, from, to } = cell
  const words = text.split(' ')
  const areNumbers = words.every((word) => NUMBER_WORD.test(word))
  if (from === to || words.length !== to - from + 1 || !areNumbers) return [cell]
  return words.map((word, n) => ({ ...cell, text: word, from: from + n, to: from + n }))
}

function placedIn(row: Row, n: number, { stripsOf }: Walls): Placed[] {
  return [...Map.groupBy(row, (one) => stripsOf(one).join()).values()].flatMap((cell) => {
    const segments = withSigns(toSegments(cell, CELL_GAP))
    return segments.map((segment, m) => ({
      row: n,
      segment,
      before: segments[m - 1],
      strips: stripsOf(segment),
      isAlone: segments.length === 1,
      clusters: [],
    }))
  })
}

/** Joins signs of currency, of per cent and of notes with the number beside them. */
function withSigns(segments: readonly Fragment[]): Fragment[] {
  const result: Fragment[] = []
  for (const segment of segments) {
    const last = result.at(-1)
    const isAmount = last && BEFORE_NUMBER.test(last.text) && STARTS_NUMBER.test(segment.text)
    const isNear = last && segment.left - last.right < segment.height * SEGMENT_GAP
    const hasSign = isNear && AFTER_NUMBER.test(segment.text) && ENDS_NUMBER.test(last.text)
    if (last && (isAmount || hasSign)) {
      last.text = tidy(`${last.text}${isAmount ? '' : ' '}${segment.text}`)
      last.right = segment.right
    } else result.push({ ...segment })
  }
  return result
}

/** Each text takes its clusters; those that lie across several come last. */
function clustersOf(placed: readonly Placed[]): Cluster[] {
  const clusters: Cluster[] = []
  const joined = new Map<Cluster, Cluster>()
  const spanning: Placed[] = []
  const widthOf = ({ segment }: Placed) => segment.right - segment.left
  for (const one of placed.toSorted((a, b) => widthOf(a) - widthOf(b))) {
    const over = overlapping(clusters, one.segment)
    if (over.length > 1 && haveCommonRow(over)) {
      spanning.push(one)
      continue
    }
    const [first = addTo(clusters), ...more] = over
    for (const other of more) {
      clusters.splice(clusters.indexOf(other), 1)
      joined.set(other, first)
      extend(first, other, other.rows)
    }
    extend(first, one.segment, [one.row])
    one.clusters = [first]
  }
  for (const one of placed) one.clusters = one.clusters.map((cluster) => rootOf(cluster, joined))
  removeStrays(clusters, placed)
  spanBetween(clusters, placed)
  for (const one of spanning) one.clusters = spannedBy(one.segment, clusters)
  return clusters
}

function addTo(clusters: Cluster[]): Cluster {
  const cluster = { left: Infinity, right: -Infinity, rows: new Set<number>() }
  clusters.push(cluster)
  return cluster
}

function rootOf(cluster: Cluster, joined: ReadonlyMap<Cluster, Cluster>): Cluster {
  let root = cluster
  for (let next = joined.get(root); next; next = joined.get(root)) root = next
  return root
}

function extend(cluster: Cluster, { left, right }: Range, rows: Iterable<number>): void {
  cluster.left = Math.min(cluster.left, left)
  cluster.right = Math.max(cluster.right, right)
  for (const row of rows) cluster.rows.add(row)
}

function overlapping<Some extends Range>(ranges: readonly Some[], text: Fragment): Some[] {
  const { left, right, height } = text
  const slack = Math.min(height * SLACK, (right - left) / 3)
  return ranges.filter((range) => left < range.right - slack && right > range.left + slack)
}

function haveCommonRow(clusters: readonly Cluster[]): boolean {
  const seen = new Set<number>()
  for (const { rows } of clusters) {
    for (const row of rows) {
      if (seen.has(row)) return true
      seen.add(row)
    }
  }
  return false
}

/** A column that one row alone has, close to the text before, is a wide blank within that text. */
function removeStrays(clusters: Cluster[], placed: readonly Placed[]): void {
  const clustersOf = new Map(placed.map((one) => [one.segment, one.clusters]))
  for (const { segment, before, clusters: own } of placed) {
    const [cluster] = own
    const isStray = cluster && before && cluster.rows.size === 1 && clusters.length > 2
    if (!isStray || segment.left - before.right > segment.height * SEGMENT_GAP) continue
    clusters.splice(clusters.indexOf(cluster), 1)
    const target = clustersOf.get(before) ?? []
    own.splice(0, own.length, ...target)
    if (target[0]) extend(target[0], segment, cluster.rows)
  }
}

/** A text alone between two columns, in the middle of both, is a head of both. */
function spanBetween(clusters: Cluster[], placed: readonly Placed[]): void {
  const order = clusters.toSorted((a, b) => a.left - b.left)
  for (const { row, segment, clusters: own } of placed) {
    const [cluster] = own
    if (!cluster || cluster.rows.size > 1) continue
    const place = order.indexOf(cluster)
    const [before, after] = [order[place - 1], order[place + 1]]
    if (place < 1 || !before || !after || before.rows.has(row) || after.rows.has(row)) continue
    const middle = (before.left + after.right) / 2
    const slack = Math.max(CENTRED, (after.right - before.left) * 0.15)
    if (Math.abs((segment.left + segment.right) / 2 - middle) > slack) continue
    clusters.splice(clusters.indexOf(cluster), 1)
    order.splice(place, 1)
    own.splice(0, own.length, before, after)
  }
}

/** A label that begins where its column does reaches into empty cells; anything else lies across its columns. */
function spannedBy(segment: Fragment, clusters: readonly Cluster[]): Cluster[] {
  const over = overlapping(clusters, segment)
  const first = over.toSorted((a, b) => a.left - b.left)[0]
  return first && Math.abs(first.left - segment.left) < FLUSH ? [first] : over
}
