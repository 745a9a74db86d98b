import { calendarPlaces, placeIn } from '@agent-server/lib/text/calendar-names.ts'

export const CHART_FONT = 'DejaVu Sans'
/**
 * Estimates in pixels, rather too large than too small: the width of a letter in labels and in titles, the height of a
 * bar with its gap, and of a legend row.
 */
const LETTER_WIDTH = 6.5
const TITLE_LETTER_WIDTH = 8.5
const BAR_HEIGHT = 22
const LEGEND_ROW_HEIGHT = 17
/** The maximum height in pixels of a chart that is turned on its side. */
const MAX_HEIGHT = 2_000
/** Longer labels are truncated. */
const MAX_LABEL_PIXELS = 360
/** With more slices there is no room for their values. */
const MAX_LABELLED_SLICES = 8

type ChartRow = Readonly<Record<string, string | number | boolean | null>>

/** The properties of a channel that affect the layout. */
interface Channel {
  field?: string | undefined
  type?: string | undefined
  aggregate?: string | undefined
  bin?: boolean | undefined
  timeUnit?: string | undefined
  sort?: string | undefined
}

interface Chart<C extends Channel = Channel> {
  mark: string
  x?: C | undefined
  y?: C | undefined
  color?: C | undefined
  theta?: C | undefined
  column?: C | undefined
  width: number
  height: number
}

/** Marks that mean the same when the chart is turned on its side. */
const MAY_BE_TURNED: ReadonlySet<string> = new Set(['bar', 'boxplot', 'point', 'tick'])

/** The distinct names of a discrete channel, in the order of the rows; empty for numbers and times. */
function namesIn(channel: Channel | undefined, rows: readonly ChartRow[]): string[] {
  const { field, type, timeUnit, bin } = channel ?? {}
  if (field === undefined || timeUnit || bin || type === 'temporal') return []
  const values = rows.map((row) => row[field]).filter((value) => value != null)
  if (type === undefined && values.every((value) => typeof value === 'number')) return []
  if (type === 'quantitative') return []
  return [...new Set(values.map(String))]
}

const longest = (names: readonly string[]) => Math.max(0, ...names.map(({ length }) => length))
const fits = (names: readonly string[], width: number) =>
  names.length * (longest(names) + 1) * LETTER_WIDTH <= width

/** Turns the chart on its side if the labels below its marks would not fit next to each other. */
export function layOnSide<C extends Channel, R extends Chart<C>>(
  request: R,
  rows: readonly ChartRow[],
): R {
  const { mark, x, y, column, width, height } = request
  const names = namesIn(x, rows)
  const isUpright = MAY_BE_TURNED.has(mark) && y && namesIn(y, rows).length === 0 && !column
  if (!isUpright || x?.type === 'temporal' || fits(names, width) || isDay(names)) return request
  const tall = Math.min(Math.max(height, names.length * BAR_HEIGHT), MAX_HEIGHT)
  return { ...request, x: turned(y), y: turned(x), height: tall }
}

const isDay = (names: readonly string[]) => names.every((name) => /^\d{4}-\d\d-\d\d/.test(name))
const OTHER_AXIS = { x: 'y', y: 'x', '-x': '-y', '-y': '-x' } as const

function turned<C extends Channel>(channel: C | undefined): C | undefined {
  const { sort } = channel ?? {}
  if (!channel || !sort || !(sort in OTHER_AXIS)) return channel
  const other = Object.entries(OTHER_AXIS).find(([axis]) => axis === sort)?.[1]
  return other ? { ...channel, sort: other } : channel
}

/** Weekdays or months in calendar order; undefined for other names. */
export function calendarOrder(channel: Channel, rows: readonly ChartRow[]): string[] | undefined {
  const names = namesIn(channel, rows)
  for (const unit of ['month', 'weekday'] as const) {
    const places = calendarPlaces(unit, names)
    if (places) return names.toSorted((a, b) => placeIn(places, a) - placeIn(places, b))
  }
  return undefined
}

/** How the labels of a channel are drawn: its axis and its legend. */
export function layoutOf(
  name: string,
  channel: Channel,
  request: Chart,
  rows: readonly ChartRow[],
): Record<string, unknown> {
  const axis = axisOf(name, channel, request, rows)
  const legend = name === 'color' ? legendOf(channel, request, rows) : undefined
  return { ...(axis && { axis }), ...(legend && { legend }) }
}

/** How an axis is labelled: so that names fit, and with integer ticks if all values are integers. */
function axisOf(
  name: string,
  channel: Channel,
  { width }: Chart,
  rows: readonly ChartRow[],
): Record<string, unknown> | undefined {
  if (name !== 'x' && name !== 'y') return undefined
  const names = namesIn(channel, rows)
  if (names.length > 0) {
    const isCrowded = name === 'x' && !fits(names, width)
    const slope = isCrowded ? { labelAngle: -35, labelOverlap: 'greedy' } : { labelAngle: 0 }
    return { labelLimit: MAX_LABEL_PIXELS, ...(name === 'x' && slope) }
  }
  return isWhole(channel, rows) ? { tickMinStep: 1 } : undefined
}

function isWhole({ field, aggregate, bin, timeUnit, type }: Channel, rows: readonly ChartRow[]) {
  if (aggregate === 'count' || aggregate === 'distinct') return true
  if (field === undefined || bin || timeUnit || type || aggregate === 'mean') return false
  const values = rows.map((row) => row[field]).filter((value) => value != null)
  return values.length > 0 && values.every((value) => Number.isInteger(value))
}

/** Places the legend next to the chart if there is room, in several columns if needed, else below it. */
function legendOf(
  channel: Channel,
  { width, height }: Chart,
  rows: readonly ChartRow[],
): Record<string, unknown> | undefined {
  const names = namesIn(channel, rows)
  if (names.length === 0) return undefined
  const shared = { labelLimit: MAX_LABEL_PIXELS, symbolLimit: names.length }
  const columns = Math.ceil(
    (names.length + 1) / Math.max(1, Math.floor(height / LEGEND_ROW_HEIGHT)),
  )
  const label = Math.min(longest(names) * LETTER_WIDTH, MAX_LABEL_PIXELS) + 30
  if (columns * label <= width / 2) return { ...shared, columns }
  return { ...shared, orient: 'bottom', columns: Math.max(1, Math.floor(width / label)) }
}

/** Wraps a title into lines that are no wider than the chart. */
export function wrapTitle(title: string, width: number): string | string[] {
  const most = Math.max(12, Math.floor(width / TITLE_LETTER_WIDTH))
  if (title.length <= most) return title
  const lines: string[] = []
  for (const word of title.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < most) lines.push(`${lines.pop()} ${word}`)
    else lines.push(word)
  }
  return lines
}

/** The slices of a pie, with their values if there is room. */
export function pieLayers(
  { theta, color, width, height }: Chart,
  rows: readonly ChartRow[],
  encoding: Readonly<Record<string, Record<string, unknown>>>,
): Record<string, unknown> {
  const radius = Math.min(width, height) / 2 - 24
  const slices = color ? namesIn(color, rows).length : 0
  const mark = { type: 'arc', outerRadius: radius }
  if (!theta || slices === 0 || slices > MAX_LABELLED_SLICES) return { mark, encoding }
  const { field, aggregate } = theta
  const { theta: angle, ...others } = encoding
  const plainField = field !== undefined && { field: angle?.field }
  const text = { ...plainField, aggregate, type: 'quantitative' }
  return {
    encoding: { theta: { ...angle, stack: true }, ...others },
    layer: [
      { mark },
      { mark: { type: 'text', radius: radius + 14, fill: '#333' }, encoding: { text } },
    ],
  }
}
