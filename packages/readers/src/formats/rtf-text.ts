import { createBoundedText, MAX_CHARACTERS, toMarkdownTable, tooLong } from '../extracted.ts'
import { withoutMarks } from '../marks.ts'

/** What a paragraph is. */
export interface ParagraphFormat {
  isInTable: boolean
  /** The level of a heading, from 1. */
  heading: number | undefined
}

const MAX_LEVEL = 6
/** What a table adds to the text of a cell, even to none. */
const CELL_FRAME = 3
const NUMBERED = /^\(?\w{1,5}[.)]/

interface RtfRow {
  cells: string[]
  /** The right edges of its cells, in twips. */
  edges: number[]
}

const MAX_EDGES = 1_000
/** In twips: edges that are nearer are those of one column. */
const SAME_EDGE = 60

/** Puts each cell of a table into the first of the columns that it spans. */
function inColumns(rows: readonly RtfRow[]): string[][] {
  const widest = rows.reduce((most, row) => (row.edges.length > most.edges.length ? row : most))
  const columns = widest.edges
  return rows.map(({ cells, edges }) => {
    const fits = edges.length === cells.length && cells.length < columns.length
    if (!fits) return cells
    const places = columns.map(() => '')
    for (const [index, cell] of cells.entries()) {
      const left = edges[index - 1] ?? Number.NEGATIVE_INFINITY
      const column = columns.findIndex((edge) => edge > left + SAME_EDGE)
      if (column < 0 || places[column] !== '') return cells
      places[column] = cell
    }
    return places
  })
}

/** Collects paragraphs and cells as Markdown. Throws `text_too_long`. */
export function createRtfText() {
  const text = createBoundedText()
  let size = 0
  let paragraph = ''
  let marker = ''
  let cell = ''
  let row: string[] = []
  let edges: number[] = []
  let rows: RtfRow[] = []
  let isList = false

  const addBlock = (block: string, isItem: boolean) => {
    const separator = isItem && isList ? '\n' : '\n\n'
    text.add(text.length === 0 ? block : `${separator}${block}`)
    isList = isItem
  }
  const reserve = (length: number) => {
    size += length
    if (size > MAX_CHARACTERS) throw tooLong()
  }
  const takeParagraph = () => {
    const words = withoutMarks(paragraph)
    paragraph = ''
    return words
  }
  const endCell = () => {
    reserve(CELL_FRAME)
    row.push(`${cell}${takeParagraph()}`)
    cell = ''
  }
  const endRow = () => {
    if (row.length > 0) rows.push({ cells: row, edges })
    row = []
  }
  const endTable = () => {
    if (cell.trim() !== '') row.push(cell)
    cell = ''
    endRow()
    if (rows.length > 0) addBlock(toMarkdownTable(inColumns(rows)), false)
    rows = []
  }

  return {
    add(words: string): void {
      reserve(words.length)
      paragraph += words
    },
    /** The bullet or number of the paragraph. */
    mark(words: string): void {
      reserve(words.length)
      marker += words
    },
    endParagraph({ isInTable, heading }: ParagraphFormat): void {
      const words = takeParagraph()
      const sign = marker.trim()
      marker = ''
      if (isInTable) {
        cell += `${words} `
        return
      }
      endTable()
      const line = tidy(words)
      if (line === '') return
      if (heading !== undefined) {
        addBlock(`${'#'.repeat(Math.min(heading, MAX_LEVEL))} ${numbered(sign)}${line}`, false)
      } else if (sign === '') addBlock(line, false)
      else addBlock(`${numbered(sign) || '- '}${line}`, true)
    },
    beginRow: () => (edges = []),
    /** Where the next cell of the row ends, in twips. */
    addEdge: (edge: number) => edges.length < MAX_EDGES && edges.push(edge),
    endCell,
    endRow,
    finish(): string {
      if (row.length > 0) endCell()
      this.endParagraph({ isInTable: false, heading: undefined })
      return text.toString()
    },
  }
}

/** Signs other than these are bullets, in fonts of symbols. */
const isNumber = (sign: string) => NUMBERED.test(sign) || /\d/.test(sign) || /\p{L}{3}/u.test(sign)

const numbered = (sign: string) => (isNumber(sign) ? `${sign} ` : '')

/** Keeps the line breaks within a paragraph. Without a pattern for runs of spaces, whose length is not bounded. */
function tidy(words: string): string {
  return words
    .split('\n')
    .map((line) => line.split(/\s/).filter(Boolean).join(' '))
    .join('\n')
    .trim()
}
