import type TurndownService from 'turndown'
import { oneLine } from '../extracted.ts'
import type { PageElement } from './html-page.ts'

/** Columns that one cell may span. */
const MAX_SPAN = 100
/** Columns of a table with such cells. */
const MAX_COLUMNS = 1_000
/** Places of a table that cells which span several may take. */
const MAX_SPREAD = 100_000
/** UTF-16 code units of a cell that are repeated in each row that it spans. */
const MAX_REPEATED = 200
const MAX_HEAD_ROWS = 4

/** Converts tables to Markdown, with the first row as the head; tables used only for layout are dissolved. */
export function addTableRules(service: TurndownService): void {
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node: PageElement) =>
      shapeOf(node).isArrangement
        ? `\n\n${content}\n\n`
        : ` ${oneLine(content.replaceAll('|', '/'))} |`,
  })
  service.addRule('row', {
    filter: 'tr',
    replacement(content, node: PageElement) {
      const { isArrangement, head } = shapeOf(node)
      if (isArrangement) return content
      return `\n|${content}${head === node ? `\n|${' --- |'.repeat(node.children.length)}` : ''}`
    },
  })
  service.addRule('rows', {
    filter: ['thead', 'tbody', 'tfoot'],
    replacement: (content) => content,
  })
  service.addRule('table', {
    filter: 'table',
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  })
}

interface TableShape {
  /** Whether the table is only used for layout, as in mails and old pages. */
  isArrangement: boolean
  head: PageElement | undefined
}

/** Cached per table, so that it is not determined again for each cell. */
const shapes = new WeakMap<PageElement, TableShape>()

/** The shape of the table that a row or cell belongs to. */
export function shapeOf(node: PageElement): TableShape {
  const table = node.closest('table')
  if (!table) return { isArrangement: true, head: undefined }
  const cached = shapes.get(table)
  if (cached) return cached
  const rows = Array.from(table.querySelectorAll('tr'))
  const isPlain = rows.every(({ children }) => children.length < 2)
  const shape = { isArrangement: isPlain || table.querySelector('table') !== null, head: rows[0] }
  shapes.set(table, shape)
  return shape
}

interface Place {
  cell: PageElement
  /** How many rows and columns it is behind the first place of its cell. */
  down: number
  right: number
}

type Grid = readonly (readonly (Place | undefined)[])[]

/**
 * Gives each row of each table a cell for each column, so that every value stands under its head. A cell that spans rows
 * is repeated in each of them; a head of several rows becomes one; a title over all columns goes before the table.
 */
export function evenTables(element: PageElement): void {
  const tables = [...element.querySelectorAll('table')]
  if (element.nodeName === 'TABLE') tables.push(element)
  for (const table of tables) if (!shapeOf(table).isArrangement) evenTable(table)
}

function evenTable(table: PageElement): void {
  for (const caption of [...table.querySelectorAll('caption')]) moveBefore(table, caption)
  const rows = Array.from(table.querySelectorAll('tr'))
  if (rows.some((row) => Array.from(row.children).some(isSpanning))) evenRows(table, rows)
  shapes.delete(table)
}

function evenRows(table: PageElement, rows: readonly PageElement[]): void {
  const grid = spread(rows)
  const first = isTitle(grid) ? 1 : 0
  const body = first + headRows(grid.slice(first), rows.slice(first))
  if (first > 0) moveBefore(table, grid[0]?.[0]?.cell)
  for (const [index, row] of rows.entries()) {
    if (index === first) writeHead(row, grid.slice(first, body))
    else if (index >= body) writeRow(row, grid[index] ?? [])
    else row.remove()
  }
}

function moveBefore(table: PageElement, cell: PageElement | undefined): void {
  const text = cell?.textContent?.trim() ?? ''
  if (text !== '') {
    const line = table.ownerDocument.createElement('p')
    line.append(text)
    table.before(line)
  }
  cell?.remove()
}

function spanOf(cell: PageElement, name: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? '', 10)
  return Number.isNaN(span) ? 1 : Math.max(span, name === 'rowspan' ? 0 : 1)
}

const isSpanning = (cell: PageElement) =>
  spanOf(cell, 'colspan') > 1 || spanOf(cell, 'rowspan') !== 1

function spread(rows: readonly PageElement[]): Grid {
  const grid: (Place | undefined)[][] = rows.map(() => [])
  let room = MAX_SPREAD
  const put = (index: number, column: number, place: Place) => {
    const places = grid[index]
    const isFirst = place.down + place.right === 0
    if (!places || places[column] || (!isFirst && room-- <= 0)) return
    places[column] = place
  }
  for (const [index, row] of rows.entries()) {
    let column = 0
    for (const cell of row.children) {
      column = nextFree(grid[index] ?? [], column)
      const width = Math.min(spanOf(cell, 'colspan'), MAX_SPAN)
      const last = room > 0 ? lastRow(rows, index, spanOf(cell, 'rowspan')) : index + 1
      const places = Array.from({ length: width * (last - index) }, (_, at) => ({
        cell,
        down: Math.floor(at / width),
        right: at % width,
      }))
      for (const place of places) put(index + place.down, column + place.right, place)
      column += width
    }
  }
  const widest = grid.reduce((most, { length }) => Math.max(most, length), 0)
  const width = Math.min(widest, MAX_COLUMNS)
  const least = width * rows.length <= MAX_SPREAD ? width : 0
  return grid.map((places) =>
    Array.from({ length: Math.max(least, places.length) }, (_, column) => places[column]),
  )
}

function nextFree(places: readonly (Place | undefined)[], from: number): number {
  let column = from
  while (places[column]) column++
  return column
}

/** A span of 0 rows ends with the part of the table; none goes beyond it. */
function lastRow(rows: readonly PageElement[], from: number, span: number): number {
  const section = rows[from]?.parentElement
  const most = span === 0 ? rows.length : Math.min(from + span, rows.length)
  let last = from + 1
  while (last < most && rows[last]?.parentElement === section) last++
  return last
}

/** Whether the first row is one cell above all columns. */
function isTitle(grid: Grid): boolean {
  const [first = []] = grid
  const cell = first[0]?.cell
  return grid.length > 2 && first.length > 1 && first.every((place) => place?.cell === cell)
}

/** How many rows the head has. */
function headRows(grid: Grid, rows: readonly PageElement[]): number {
  const inHead = rows.findIndex((row) => row.parentElement?.nodeName !== 'THEAD')
  if (inHead > 1) return Math.min(inHead, MAX_HEAD_ROWS)
  const [first = [], second = []] = grid
  const isWide = first.some((place) => place && place.right > 0)
  if (grid.length < 3 || !isWide) return 1
  if (second.some((place) => place && place.down > 0)) return 2
  if (second.every((place) => place?.cell.nodeName === 'TH')) return 2
  const areNames = second.every((place, column) => {
    const isBelowWide = first[column + 1]?.right === 1 || (first[column]?.right ?? 0) > 0
    return isBelowWide ? NAME.test(textAt(place)) : OTHER_NAME.test(textAt(place))
  })
  const hasNumbers = grid.slice(2).some((row) => row.some((place) => /\d/.test(textAt(place))))
  return areNames && hasNumbers ? 2 : 1
}

/** The name of a column: words, or a year. */
const NAME = /^(?:(?=\D*?\p{L})\D*|\D*(?:19|20)\d\d\D*)$/u
const OTHER_NAME = /^(?:|(?=\D*?\p{L})\D*|\D*(?:19|20)\d\d\D*)$/u

const textAt = (place: Place | undefined) => oneLine(place?.cell.textContent ?? '')

function writeHead(row: PageElement, grid: Grid): void {
  const names = Array.from({ length: grid[0]?.length ?? 0 }, (_, column) => {
    const cells = new Set(grid.map((places) => places[column]?.cell))
    return [...cells].map((cell) => oneLine(cell?.textContent ?? '')).filter(Boolean)
  })
  const cells = names.map((parts) => {
    const cell = row.ownerDocument.createElement('th')
    cell.append([...new Set(parts)].join(' '))
    return cell
  })
  for (const old of [...row.children]) old.remove()
  row.append(...cells)
}

function writeRow(row: PageElement, places: readonly (Place | undefined)[]): void {
  const cells = places.map((place) => {
    if (place && place.down === 0 && place.right === 0) return place.cell
    const cell = row.ownerDocument.createElement('td')
    const text = place?.right === 0 ? oneLine(place.cell.textContent ?? '') : ''
    if (text.length <= MAX_REPEATED) cell.append(text)
    return cell
  })
  for (const old of [...row.children]) old.remove()
  row.append(...cells)
}
