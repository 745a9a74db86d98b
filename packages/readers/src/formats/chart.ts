import { oneLine, toMarkdownTable } from '../extracted.ts'
import { toText } from '../sheet-tables.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { dateAt, dayZeroOf, numberFormatOf } from './number-format.ts'
import { targetsOf } from './ooxml.ts'
import { type ChartValues, type ParsedChart, parseChart } from './parse-chart.ts'
import { parseChartEx } from './parse-chartex.ts'

/** Rows of a chart that become text. */
const MAX_ROWS = 500
/** A part of another workbook, or deleted cells. */
const ELSEWHERE = /\[|#REF!/

export interface Chart {
  /** With the titles of the axes of values; '' if it has none. */
  title: string
  /** Whether all of its values are cells of the workbook that holds it. */
  isOfCells: boolean
  tables: readonly ChartTable[]
}

interface ChartTable {
  /** The first has the name of the category and those of the series. */
  rows: readonly (readonly string[])[]
  /** Says that there are more rows; '' if there are not. */
  note: string
}

interface SeriesTexts {
  name: string
  /** By place. */
  categories: ReadonlyMap<number, string>
  values: ReadonlyMap<number, string>
}

/** The charts that a part of an Office file refers to, by relationship ID. */
export async function chartsOf(zip: ZipArchive, part: string): Promise<Map<string, Chart>> {
  const charts = new Map<string, Chart>()
  for (const [id, { type, path }] of await targetsOf(zip, part)) {
    const parse = zip.has(path) ? PARSERS.get(type.slice(type.lastIndexOf('/') + 1)) : undefined
    if (parse) charts.set(id, await showChart(parse(await zip.readText(path))))
  }
  return charts
}

/** By the type of the relationship. */
const PARSERS = new Map([
  ['chart', parseChart],
  ['chartEx', parseChartEx],
])

export async function showChart({ titles, series, is1904 }: ParsedChart): Promise<Chart> {
  const show = await createShow(is1904)
  const texts = series.map(({ name, categories, values }) => ({
    name: textsOf(name, show).get(0) ?? '',
    categories: textsOf(categories, show),
    values: textsOf(values, show),
  }))
  const title = titles.get('chart') ?? (texts.length === 1 ? texts[0]?.name : undefined) ?? ''
  const unit = titles.get('valAx') ?? ''
  const category = titles.get('catAx') ?? titles.get('dateAx') ?? 'Category'
  return {
    title: oneLine(unit === '' ? title : `${title} (${unit})`),
    isOfCells: series.every(({ values: { cells } }) => cells !== '' && !ELSEWHERE.test(cells)),
    tables: sameCategories(texts).map((group) => tableOf(category, group)),
  }
}

/** The title of a chart, and its tables, as Markdown. */
export function chartToText({ title, tables }: Chart): string {
  const blocks = tables.flatMap(({ rows, note }) => [toMarkdownTable(rows), note])
  return [chartName(title), ...blocks].filter(Boolean).join('\n\n')
}

export const chartName = (title: string) => `Chart${title && `: ${title}`}`

type Show = (text: string, format: string) => string

/** Writes numbers as the chart shows them; other texts stay as they are. */
async function createShow(is1904: boolean): Promise<Show> {
  const { SSF } = await import('@e965/xlsx')
  const formatted = (format: string, value: number) => {
    try {
      return SSF.format(format, value).trim()
    } catch {
      // A format that is none leaves the number as it is.
      return String(value)
    }
  }
  return (text, format) => {
    const value = Number(text)
    if (format === '' || text.trim() === '' || Number.isNaN(value)) return text
    if (SSF.is_date(format)) return toText(dateAt(dayZeroOf(is1904), value))
    return numberFormatOf(format).kind !== 'plain' ? formatted(format, value) : String(value)
  }
}

/** In their order. An outer level of categories names only the first of those that it holds. */
function textsOf({ levels, format }: ChartValues, show: Show): Map<number, string> {
  const [inner, ...outer] = levels
  const above = outer.map(() => '')
  const texts = new Map<number, string>()
  const places = new Set(levels.flatMap((level) => [...level.keys()]))
  for (const place of [...places].sort((a, b) => a - b)) {
    for (const [depth, level] of outer.entries())
      above[depth] = level.get(place) ?? above[depth] ?? ''
    const text = show(inner?.get(place) ?? '', format)
    texts.set(place, [...above.toReversed(), text].filter(Boolean).join(' '))
  }
  return texts
}

/** Series that follow each other and have the same categories share a table. */
function sameCategories(series: readonly SeriesTexts[]): SeriesTexts[][] {
  const groups: SeriesTexts[][] = []
  let last = ''
  for (const one of series) {
    if (one.values.size === 0) continue
    const categories = JSON.stringify([...one.categories])
    if (categories === last) groups.at(-1)?.push(one)
    else groups.push([one])
    last = categories
  }
  return groups
}

function tableOf(category: string, group: readonly SeriesTexts[]): ChartTable {
  const places = new Set(group.flatMap(({ values }) => [...values.keys()]))
  const rows = [...places]
    .sort((a, b) => a - b)
    .slice(0, MAX_ROWS)
    .map((place) => [
      group[0]?.categories.get(place) ?? String(place + 1),
      ...group.map(({ values }) => values.get(place) ?? ''),
    ])
  const isCut = places.size > MAX_ROWS
  return {
    rows: [[category, ...group.map(({ name }) => name)], ...rows],
    note: isCut ? `(The first ${MAX_ROWS} of ${places.size} rows.)` : '',
  }
}
