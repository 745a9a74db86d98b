import { localName, readXml } from './xml.ts'

export const MAX_SERIES = 100
/** Values of a series that are kept. */
const MAX_VALUES = 10_000
/** UTF-16 code units of a title, a name or a value. */
const MAX_TEXT = 500

/** The values of a series, or the categories that they belong to. */
export interface ChartValues {
  /** The format of numbers, as spreadsheets have it. */
  format: string
  /** By place. Categories may have several levels, the innermost first. */
  levels: Map<number, string>[]
  /** The cells from which the values were copied; '' if from none. */
  cells: string
}

export interface Series {
  name: ChartValues
  categories: ChartValues
  values: ChartValues
}

export interface ParsedChart {
  /** By what they belong to: `chart`, `catAx`, `valAx`. */
  titles: Map<string, string>
  series: Series[]
  is1904: boolean
}

export const newValues = (): ChartValues => ({ format: '', levels: [], cells: '' })

/** What the elements of a series hold. */
const HOLDS: ReadonlyMap<string, keyof Series> = new Map([
  ['tx', 'name'],
  ['cat', 'categories'],
  ['xVal', 'categories'],
  ['val', 'values'],
  ['yVal', 'values'],
])
const CACHES = new Set(['strCache', 'numCache', 'strLit', 'numLit', 'lvl'])

/** Parses a chart of Office: ECMA-376, part 1, 21.2. It keeps a copy of the values that it shows. */
export function parseChart(xml: string): ParsedChart {
  const chart = createChart()
  readChartXml(xml, chart)
  return chart.parsed
}

/** `name` and `parent` are without the prefix of their namespace. */
interface ChartHandler {
  open(name: string, parent: string, attributes: Record<string, string>): void
  text(name: string, text: string): void
  close(name: string, parent: string): void
}

/** Reads the XML of a chart without its extensions, which repeat what is there and hold what is not shown. */
export function readChartXml(xml: string, handler: ChartHandler): void {
  const path: string[] = []
  let extensions = 0
  readXml(xml, {
    open(qualified, attributes) {
      const name = localName(qualified)
      if (name === 'extLst') extensions++
      if (extensions === 0) handler.open(name, path.at(-1) ?? '', attributes)
      path.push(name)
    },
    text(text) {
      if (extensions === 0) handler.text(path.at(-1) ?? '', text)
    },
    close() {
      const name = path.pop() ?? ''
      if (name === 'extLst') extensions--
      if (extensions === 0) handler.close(name, path.at(-1) ?? '')
    },
  })
}

/** A chart as it is read, element by element. */
function createChart() {
  const parsed: ParsedChart = { titles: new Map(), series: [], is1904: false }
  /** The element whose title is open. */
  let titleOwner: string | undefined
  let series: Series | undefined
  let values: ChartValues | undefined
  let place = 0

  const beginSeries = (): Series => {
    const next = { name: newValues(), categories: newValues(), values: newValues() }
    if (parsed.series.length < MAX_SERIES) parsed.series.push(next)
    return next
  }
  const valuesOf = (name: string) => {
    const property = HOLDS.get(name)
    return property && series?.[property]
  }
  const openValues = (name: string, index: string | undefined) => {
    if (name === 'pt') place = Number(index) || 0
    if (CACHES.has(name)) values?.levels.push(new Map())
  }
  const add = (property: 'cells' | 'format', text: string) => {
    if (values) values[property] += text
  }
  const addValue = (text: string) => extend(values?.levels.at(-1), place, text)
  const addTitle = (text: string) => extend(parsed.titles, titleOwner ?? '', text)
  const texts = new Map<string, (text: string) => void>([
    ['f', (text) => add('cells', text)],
    ['formatCode', (text) => add('format', text)],
    ['v', (text) => (titleOwner === undefined ? addValue(text) : addTitle(text))],
    ['t', (text) => (titleOwner === undefined ? undefined : addTitle(text))],
  ])

  return {
    parsed,
    open(name: string, parent: string, { idx, val }: Record<string, string>): void {
      if (name === 'date1904') parsed.is1904 = val !== '0'
      if (name === 'title') titleOwner = parent
      if (name === 'ser') series = beginSeries()
      if (parent === 'ser') values = valuesOf(name)
      openValues(name, idx)
    },
    text: (name: string, text: string) => texts.get(name)?.(text),
    close(name: string, parent: string): void {
      if (name === 'title') titleOwner = undefined
      if (parent === 'ser') values = undefined
    },
  }
}

/** Adds to a text of limited length, unless there are too many texts. */
export function extend<Key>(texts: Map<Key, string> | undefined, key: Key, text: string): void {
  const before = texts?.get(key) ?? ''
  const isKept = texts && (texts.has(key) || texts.size < MAX_VALUES)
  if (isKept) texts.set(key, `${before}${text}`.slice(0, MAX_TEXT))
}
