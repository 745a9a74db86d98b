import { oneLine, toMarkdownTable } from '../extracted.ts'
import { struck, subscript, superscript, withoutMarks } from '../marks.ts'
import { createEquation } from './omml.ts'
import { createParagraphNumbers } from './pptx-numbers.ts'
import { readXml } from './xml.ts'

export interface Slide {
  isHidden?: true
  title: string
  /** Paragraphs, and tables as Markdown. */
  body: string
  /** Footers and dates; not those that programs fill in. */
  footers: string[]
}

const TITLES = ['title', 'ctrTitle']
/** Types of placeholders with what somebody wrote below every slide, and with what programs fill in. */
const FOOTERS = ['dt', 'ftr']
const FILLED_IN = 'sldNum'
const FURNITURE = [FILLED_IN, 'hdr', 'sldImg']
const EQUATION = 'm:oMath'
/** An alternative for old programs, which repeats what is there or says that it cannot be shown. */
const FALLBACK = 'mc:Fallback'

/** Reads the XML of a slide or of its notes. `graphics` are placed where they are, by relationship ID. */
export function readSlide(xml: string, graphics: ReadonlyMap<string, string> = new Map()): Slide {
  const slide = createSlide(graphics)
  let equation: ReturnType<typeof createEquation> | undefined
  let fallbacks = 0

  const close = (name: string) => {
    if (equation && name === EQUATION) {
      slide.addText(equation.toLatex().replace(/^.+$/, '$$$&$$'))
      equation = undefined
    } else if (equation) equation.close(name)
    else slide.close(name)
  }
  readXml(xml, {
    open(name, attributes) {
      if (name === FALLBACK) fallbacks++
      if (fallbacks > 0) return
      if (equation) equation.open(name, attributes)
      else if (name === EQUATION) equation = createEquation()
      else slide.open(name, attributes)
    },
    text(data) {
      if (fallbacks > 0) return
      if (equation) equation.text(data)
      else slide.text(data)
    },
    close(name) {
      if (name === FALLBACK) fallbacks--
      else if (fallbacks === 0) close(name)
    },
  })
  return slide.finish()
}

const isOn = (value: string | undefined) => value === '1' || value === 'true'

/** By how much text is raised above the line, which is less than 0 for what is below it, and by how it is struck out. */
function markOf(baseline: number, strike = NO_STRIKE): ((text: string) => string) | undefined {
  if (baseline === 0 || Number.isNaN(baseline)) return strike === NO_STRIKE ? undefined : struck
  return baseline > 0 ? superscript : subscript
}

const NO_STRIKE = 'noStrike'

/** The table that is open, row by row. */
function createTable() {
  let rows: string[][] | undefined
  return {
    begin: () => (rows = []),
    beginRow: () => rows?.push([]),
    /** A cell that spans several rows or columns is repeated in each. */
    beginCell({ vMerge, hMerge }: Record<string, string>): void {
      const row = rows?.at(-1)
      const above = isOn(vMerge) ? rows?.at(-2)?.[row?.length ?? 0] : undefined
      row?.push(above ?? (isOn(hMerge) ? row.at(-1) : undefined) ?? '')
    },
    /** Returns whether there is a cell for it. */
    add(text: string): boolean {
      const row = rows?.at(-1)
      row?.push(`${row.pop() ?? ''} ${text}`)
      return row !== undefined
    },
    end(): string {
      const table = rows?.length ? toMarkdownTable(rows) : ''
      rows = undefined
      return table
    },
  }
}

/** A slide as it is read, element by element. */
function createSlide(graphics: ReadonlyMap<string, string>) {
  const title: string[] = []
  const blocks: string[] = []
  const footers: string[] = []
  const numbers = createParagraphNumbers()
  const table = createTable()
  let isHidden = false
  let placeholder = ''
  let isText = false
  let paragraph = ''
  /** What a picture shows, in the words of the author. */
  let description = ''
  /** Marks what stands above or below the line, or is struck out. */
  let mark: ((text: string) => string) | undefined

  const addBlock = (block: string) => {
    if (block !== '') blocks.push(block)
  }
  const addGraphic = (id = '') => addBlock(graphics.get(id) ?? '')
  /** The paragraph that ends, after its number. */
  const takeText = () => {
    const words = oneLine(withoutMarks(paragraph))
    paragraph = ''
    const number = numbers.take(words !== '')
    return number === '' ? words : `${number} ${words}`
  }
  const endParagraph = () => {
    const text = takeText()
    if (text === '') return
    if (FOOTERS.includes(placeholder)) footers.push(text)
    else if (FURNITURE.includes(placeholder)) return
    else if (table.add(text)) return
    else if (TITLES.includes(placeholder)) title.push(text)
    else addBlock(text)
  }
  const beginShape = () => {
    placeholder = ''
    numbers.reset()
  }
  const endPicture = () => {
    // One word is mostly the name of a file.
    if (/\s/.test(description)) addBlock(`[Picture: ${description}]`)
    description = ''
  }
  const beginnings = new Map<string, (attributes: Record<string, string>) => void>([
    ['p:sld', ({ show = '1' }) => (isHidden = !isOn(show))],
    ['p:sp', beginShape],
    ['a:pPr', ({ lvl }) => numbers.setLevel(Number(lvl) || 0)],
    ['a:buAutoNum', ({ type, startAt }) => numbers.set(type ?? '', Number(startAt) || 1)],
    ['a:rPr', ({ baseline, strike }) => (mark = markOf(Number(baseline) || 0, strike))],
    ['p:cNvPr', ({ descr = '' }) => (description = oneLine(descr))],
    ['p:ph', ({ type = 'body' }) => (placeholder = type)],
    ['a:t', () => (isText = true)],
    ['a:fld', () => (placeholder = FOOTERS.includes(placeholder) ? FILLED_IN : placeholder)],
    ['a:br', () => (paragraph += ' ')],
    ['a:tbl', table.begin],
    ['a:tr', table.beginRow],
    ['a:tc', table.beginCell],
    ['c:chart', (attributes) => addGraphic(attributes['r:id'])],
    ['cx:chart', (attributes) => addGraphic(attributes['r:id'])],
    ['dgm:relIds', (attributes) => addGraphic(attributes['r:dm'])],
  ])
  const ends = new Map<string, () => void>([
    ['a:t', () => (isText = false)],
    ['a:r', () => (mark = undefined)],
    ['a:p', endParagraph],
    ['p:pic', endPicture],
    // A table or an image that follows is in no placeholder.
    ['p:sp', () => (placeholder = '')],
    ['a:tbl', () => addBlock(table.end())],
  ])

  return {
    open: (name: string, attributes: Record<string, string>) => beginnings.get(name)?.(attributes),
    text(data: string): void {
      if (isText) paragraph += mark ? mark(data) : data
    },
    close: (name: string) => ends.get(name)?.(),
    addText(text: string): void {
      paragraph += text
    },
    finish: (): Slide => ({
      ...(isHidden && { isHidden }),
      title: title.join(' '),
      body: blocks.join('\n\n'),
      footers,
    }),
  }
}
