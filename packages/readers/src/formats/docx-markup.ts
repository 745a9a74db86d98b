import { commentBy, oneLine } from '../extracted.ts'
import { type Chart, chartName } from './chart.ts'
import { createEquation } from './omml.ts'
import { escapeXml, readXml } from './xml.ts'

/** UTF-16 code units of a comment. */
const MAX_COMMENT = 2_000
const MAX_AUTHOR = 100

/** The comments of `comments.xml` by ID, each in brackets and under the name of who wrote it. */
export function readComments(xml: string): Map<string, string> {
  const comments = new Map<string, string>()
  let id = ''
  let author = ''
  let words = ''
  let isText = false
  let deleted = 0
  readXml(xml, {
    open(name, attributes) {
      if (name === 'w:comment') {
        id = attributes['w:id'] ?? ''
        author = shortLine(attributes['w:author'] ?? '', MAX_AUTHOR)
        words = ''
      }
      isText = name === 'w:t'
      if (BLANKS.has(name)) words += ' '
      if (DELETED.has(name)) deleted++
    },
    text(data) {
      if (isText && deleted === 0 && words.length <= MAX_COMMENT) words += data
    },
    close(name) {
      isText = false
      if (DELETED.has(name)) deleted--
      const text = name === 'w:comment' ? shortLine(words, MAX_COMMENT) : ''
      if (text !== '') comments.set(id, commentBy(author, text))
    },
  })
  return comments
}

const BLANKS = new Set(['w:p', 'w:br', 'w:tab'])
const DELETED = new Set(['w:del', 'w:moveFrom'])

function shortLine(text: string, most: number): string {
  const line = oneLine(text)
  return line.length > most ? `${line.slice(0, most)}…` : line
}

/** The text outside text boxes, or that of a text box. */
interface Level {
  xml: string
  /** How many drawings are open. */
  drawings: number
  /** How many alternatives for old programs are open: these repeat the text boxes. */
  fallbacks: number
  /** The text boxes of the drawing. */
  boxes: string[]
  /** Those of its alternatives. */
  spares: string[]
}

const DRAWINGS = new Set(['mc:AlternateContent', 'w:drawing', 'w:pict', 'w:object'])
const BOX = 'w:txbxContent'
const FALLBACK = 'mc:Fallback'
const CHARTS = new Set(['c:chart', 'cx:chart'])
const SMART_ART = 'dgm:relIds'
const EQUATION = 'm:oMath'
/** An equation in a paragraph of its own. */
const DISPLAYED = 'm:oMathPara'

/** What drawings refer to, by relationship ID. */
interface Graphics {
  charts: Map<string, Chart>
  smartArt: Map<string, string[]>
}

/**
 * Rewrites a part of a Word document so that a converter that knows only paragraphs, runs and text boxes finds the
 * rest, too: comments and equations (as LaTeX) become text, each text box follows its drawing once, and so do the tables
 * of a chart and the text of SmartArt. All else stays as it is.
 */
export function simplifyWord(
  xml: string,
  comments: Map<string, string>,
  graphics: Graphics,
): string {
  const copy = createCopy(xml)
  let equation: ReturnType<typeof createEquation> | undefined
  let depth = 0
  /** Whether equations stand in a paragraph of their own: above 0. */
  let displays = 0

  const openWord = (name: string, attributes: Record<string, string>, from: number, to: number) => {
    if (name === BOX) copy.openBox(from, to)
    else if (DRAWINGS.has(name)) copy.openDrawing()
    else if (name === FALLBACK) copy.openFallback()
    else if (name === 'w:commentReference')
      copy.replace(from, from, asComment(take(comments, attributes['w:id'])))
    else if (name === DISPLAYED) {
      displays++
      copy.replace(from, to, '')
    } else copy.addBox(graphicOf(name, attributes, graphics))
  }
  const closeWord = (name: string, start: number, end: number) => {
    if (name === BOX) copy.closeBox(start, end)
    else if (DRAWINGS.has(name)) copy.closeDrawing(end)
    else if (name === FALLBACK) copy.closeFallback()
    else if (name === DISPLAYED) {
      displays--
      copy.replace(start, end, '')
    }
  }

  readXml(xml, {
    open(name, attributes, start, end) {
      if (!equation && name === EQUATION) {
        copy.replace(start, end, '')
        equation = createEquation()
        depth = 0
      } else if (equation) {
        depth++
        equation.open(name, attributes)
      } else openWord(name, attributes, start, end)
    },
    text: (data) => equation?.text(data),
    close(name, start, end) {
      if (!equation) closeWord(name, start, end)
      else if (depth > 0) {
        depth--
        equation.close(name)
      } else {
        copy.leaveOut(end, asRun(equation.toLatex(), displays > 0))
        equation = undefined
      }
    },
  })
  return copy.finish()
}

/** A copy of `xml` from beginning to end, in which some of it is replaced and the text boxes are moved. */
function createCopy(xml: string) {
  const whole = newLevel()
  const levels = [whole]
  const current = () => levels.at(-1) ?? whole
  /** Everything before it was copied or left out. */
  let position = 0

  /** Copies up to `start`; goes on at `end`, after `text`. */
  const replace = (start: number, end: number, text: string) => {
    current().xml += xml.slice(position, start) + text
    position = end
  }

  return {
    replace,
    /** Goes on at `end`, after `text`; what was not copied until here is left out. */
    leaveOut: (end: number, text: string) => replace(position, end, text),
    openBox(start: number, end: number): void {
      replace(start, end, '')
      levels.push(newLevel())
    },
    closeBox(start: number, end: number): void {
      if (levels.length < 2) return
      replace(start, end, '')
      const box = current().xml
      levels.pop()
      const { fallbacks, boxes, spares } = current()
      if (fallbacks > 0) spares.push(box)
      else boxes.push(box)
    },
    addBox: (box: string) => void (box !== '' && current().boxes.push(box)),
    openDrawing: () => void current().drawings++,
    closeDrawing(end: number): void {
      const level = current()
      level.drawings--
      if (level.drawings > 0) return
      replace(end, end, withBoxes(level))
      level.boxes = []
      level.spares = []
    },
    openFallback: () => void current().fallbacks++,
    closeFallback: () => void current().fallbacks--,
    finish(): string {
      replace(xml.length, xml.length, '')
      return whole.xml
    },
  }
}

const newLevel = (): Level => ({ xml: '', drawings: 0, fallbacks: 0, boxes: [], spares: [] })

function withBoxes({ boxes, spares }: Level): string {
  const texts = boxes.length > 0 ? boxes : spares
  return texts.map((box) => `<w:pict><w:txbxContent>${box}</w:txbxContent></w:pict>`).join('')
}

/** Takes an item out, so that it is written once, however often it is referred to. */
function take<Item>(all: Map<string, Item>, id = ''): Item | undefined {
  const item = all.get(id)
  all.delete(id)
  return item
}

const asComment = (comment: string | undefined) =>
  comment === undefined ? '' : asText(` ${comment}`)

/** What an element refers to, as paragraphs and tables; '' if it is no such element. */
function graphicOf(
  name: string,
  attributes: Record<string, string>,
  { charts, smartArt }: Graphics,
): string {
  if (CHARTS.has(name)) return asChart(take(charts, attributes['r:id']))
  if (name !== SMART_ART) return ''
  return (take(smartArt, attributes['r:dm']) ?? []).map(asParagraph).join('')
}

function asChart(chart: Chart | undefined): string {
  if (!chart) return ''
  const tables = chart.tables.map(({ rows, note }) => asTable(rows) + asParagraph(note))
  return asParagraph(chartName(chart.title)) + tables.join('')
}

function asTable(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<w:tc>${asParagraph(text)}</w:tc>`
  return `<w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`).join('')}</w:tbl>`
}

const asParagraph = (text: string) => `<w:p><w:r>${asText(text)}</w:r></w:p>`
const asText = (text: string) => `<w:t xml:space="preserve">${escapeXml(text)}</w:t>`

function asRun(latex: string, isDisplayed: boolean): string {
  if (latex === '') return ''
  const sign = isDisplayed ? '$$' : '$'
  return `<w:r>${asText(`${sign}${latex}${sign}`)}</w:r>`
}
