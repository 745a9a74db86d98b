import {
  type ChartValues,
  extend,
  MAX_SERIES,
  newValues,
  type ParsedChart,
  readChartXml,
  type Series,
} from './parse-chart.ts'

/** Dimensions that say what the values belong to; the others are values. */
const CATEGORIES = new Set(['cat', 'x', 'entityId'])

type Data = Omit<Series, 'name'>

/**
 * Parses a chart of a kind that Office has since 2016, such as a waterfall, a treemap or a funnel: [MS-ODRAWXML], 2.24.3.
 * Its series refer to data, which stand before them.
 */
export function parseChartEx(xml: string): ParsedChart {
  const parsed: ParsedChart = { titles: new Map(), series: [], is1904: false }
  const allData = new Map<string, Data>()
  let data: Data | undefined
  let values: ChartValues | undefined
  let place = 0
  /** The element whose title is open. */
  let titleOwner: string | undefined
  /** The kind of the axis that is open. */
  let axis = ''
  let series: Series | undefined

  const openData = (id: string) => {
    data = newData()
    allData.set(id, data)
  }
  const openValues = (type: string) => {
    const dimension = data?.[CATEGORIES.has(type) ? 'categories' : 'values']
    // Further dimensions, such as colours, repeat or only adorn the first.
    values = dimension?.levels.length === 0 ? dimension : undefined
  }
  const beginnings = new Map<string, (attributes: Record<string, string>, parent: string) => void>([
    ['data', ({ id = '' }) => openData(id)],
    ['strDim', ({ type = '' }) => openValues(type)],
    ['numDim', ({ type = '' }) => openValues(type)],
    [
      'lvl',
      ({ formatCode = '' }) => {
        if (values) values.format ||= formatCode
        values?.levels.push(new Map())
      },
    ],
    ['pt', ({ idx }) => (place = Number(idx) || 0)],
    ['series', ({ hidden }) => (series = isTrue(hidden) ? undefined : newSeries())],
    ['dataId', ({ val = '' }) => Object.assign(series ?? {}, allData.get(val))],
    ['catScaling', () => (axis = 'catAx')],
    ['valScaling', () => (axis = 'valAx')],
    ['title', (_, parent) => (titleOwner = parent === 'axis' ? axis : parent)],
  ])
  const addTitle = (text: string) => {
    if (titleOwner !== undefined) extend(parsed.titles, titleOwner, text)
    else extend(series?.name.levels[0], 0, text)
  }
  const addCells = (text: string) => {
    if (values) values.cells += text
  }
  const texts = new Map<string, (text: string) => void>([
    ['pt', (text) => extend(values?.levels.at(-1), place, text)],
    ['f', addCells],
    ['v', addTitle],
    ['t', (text) => titleOwner !== undefined && addTitle(text)],
  ])
  const ends = new Map<string, () => void>([
    ['strDim', () => (values = undefined)],
    ['numDim', () => (values = undefined)],
    ['title', () => (titleOwner = undefined)],
    [
      'series',
      () => {
        if (series && parsed.series.length < MAX_SERIES) parsed.series.push(series)
        series = undefined
      },
    ],
  ])
  readChartXml(xml, {
    open: (name, parent, attributes) => beginnings.get(name)?.(attributes, parent),
    text: (name, text) => texts.get(name)?.(text),
    close: (name) => ends.get(name)?.(),
  })
  return parsed
}

const newData = (): Data => ({ categories: newValues(), values: newValues() })
const newSeries = (): Series => ({ ...newData(), name: { ...newValues(), levels: [new Map()] } })
const isTrue = (attribute: string | undefined) => attribute === '1' || attribute === 'true'
