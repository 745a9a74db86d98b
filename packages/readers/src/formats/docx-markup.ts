import { commentBy, oneLine } from '../extracted.ts'
import { ruby } from '../marks.ts'
import { type Chart, chartName } from './chart.ts'
import { createProperties, type NumberParagraph } from './docx-properties.ts'
import type { WordStyles } from './docx-styles.ts'
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

const BLANKS = new Set(['w:p', 'w:br', 'w:cr', 'w:tab', 'w:ptab'])
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
  /** The text boxes of its alternatives. */
  spares: string[]
}

const DRAWINGS = ['mc:AlternateContent', 'w:drawing', 'w:pict', 'w:object']
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
  /** Files that are part of the text. */
  chunks: Map<string, string>
}

/** What a Word document says outside its text. */
export interface WordContext {
  comments: Map<string, string>
  styles: WordStyles
  number: NumberParagraph
}

/**
 * Rewrites a part of a Word document so that a converter that knows only paragraphs, runs and text boxes finds the
 * rest, too: comments, equations (as LaTeX), numbers, readings and choices become text, each text box follows its
 * drawing once, and so do the tables of a chart and the text of SmartArt. All else stays as it is.
 */
export function simplifyWord(xml: string, context: WordContext, graphics: Graphics): string {
  const copy = createCopy(xml)
  const word = createWordHandler(copy, context, graphics)
  let equation: ReturnType<typeof createEquation> | undefined
  let depth = 0
  let isReading = false

  readXml(xml, {
    open(name, attributes, start, end) {
      if (isReading) return
      if (!equation && name === EQUATION) {
        copy.replace(start, end, '')
        equation = createEquation()
        depth = 0
      } else if (equation) {
        depth++
        equation.open(name, attributes)
      } else if (name === 'w:rt') {
        copy.replace(start, start, '')
        isReading = true
      } else word.open(name, attributes, start, end)
    },
    text(data) {
      if (isReading) word.reading += data
      else equation?.text(data)
    },
    close(name, start, end) {
      if (isReading) {
        if (name !== 'w:rt') return
        isReading = false
        copy.leaveOut(end, '')
      } else if (!equation) word.close(name, start, end)
      else if (depth > 0) {
        depth--
        equation.close(name)
      } else {
        copy.leaveOut(end, asRun(equation.toLatex(), word.isDisplayed()))
        equation = undefined
      }
    },
  })
  return copy.finish()
}

/** Rewrites all elements but equations and readings. */
function createWordHandler(
  copy: ReturnType<typeof createCopy>,
  { comments, styles, number }: WordContext,
  graphics: Graphics,
) {
  const insert = (at: number, text: string) => copy.replace(at, at, text)
  const properties = createProperties(styles, number, insert)
  const choice = createChoice()
  /** Whether equations stand in a paragraph of their own: above 0. */
  let displays = 0
  let fallbacks = 0
  /** Columns that the row leaves free before its first cell. */
  let columnsBefore = 0
  const unwrap: Close = (start, end) => copy.replace(start, end, '')
  const count = (name: string, by: number) => {
    if (name === DISPLAYED) displays += by
    if (name === FALLBACK) fallbacks += by
  }
  const openings = new Map<string, Open>([
    [BOX, (_, start, end) => copy.openBox(start, end)],
    ...DRAWINGS.map((name): [string, Open] => [name, copy.openDrawing]),
    [FALLBACK, copy.openFallback],
    [
      'w:commentReference',
      (attributes, start) => insert(start, asComment(take(comments, attributes['w:id']))),
    ],
    ['w:ruby', (_, start, end) => copy.replace(start, end, asText(RUBY_BEGIN))],
    [
      'w:altChunk',
      (attributes, start, end) =>
        copy.replace(start, end, asParagraph(graphics.chunks.get(attributes['r:id'] ?? '') ?? '')),
    ],
    ['w:cr', (_, start, end) => copy.replace(start, end, '<w:br/>')],
    ['w:ptab', (_, start, end) => copy.replace(start, end, '<w:tab/>')],
    [
      'w:dstrike',
      ({ 'w:val': value = '1' }, start, end) =>
        copy.replace(start, end, `<w:strike w:val="${escapeXml(value)}"/>`),
    ],
    ['w:gridBefore', (attributes) => (columnsBefore = Number(attributes['w:val']) || 0)],
    // What was copied so far stays; a hidden text is left out at its end.
    ['w:t', (_, start) => properties.isHidden() && insert(start, '')],
    ...UNWRAPPED.map((name): [string, Open] => [name, (_, start, end) => unwrap(start, end)]),
  ])
  const closings = new Map<string, Close>([
    [BOX, copy.closeBox],
    ...DRAWINGS.map((name): [string, Close] => [name, (_, end) => copy.closeDrawing(end)]),
    [FALLBACK, copy.closeFallback],
    [
      'w:trPr',
      (_, end) => {
        if (columnsBefore > 0) insert(end, emptyCell(Math.min(columnsBefore, MAX_COLUMNS)))
        columnsBefore = 0
      },
    ],
    ['w:t', (_, end) => properties.isHidden() && copy.leaveOut(end, '')],
    ['w:fldChar', (_, end) => insert(end, asChoice(choice.take()))],
    [
      'w:ruby',
      (start, end) => {
        copy.replace(start, end, asText(`${READING_BEGIN}${handler.reading}${READING_END}`))
        handler.reading = ''
      },
    ],
    ...UNWRAPPED.map((name): [string, Close] => [name, unwrap]),
  ])
  const handler = {
    /** How the characters are read whose base follows. */
    reading: '',
    isDisplayed: () => displays > 0,
    open(name: string, attributes: Attributes, start: number, end: number): void {
      count(name, 1)
      properties.open(name, attributes, end)
      choice.open(name, attributes['w:val'])
      const open = openings.get(name)
      if (open) open(attributes, start, end)
      else copy.addBox(graphicOf(name, attributes, graphics))
    },
    close(name: string, start: number, end: number): void {
      count(name, -1)
      properties.close(name, start, end, fallbacks > 0)
      closings.get(name)?.(start, end)
    },
  }
  return handler
}

/** As many as Word has. */
const MAX_COLUMNS = 63
const emptyCell = (columns: number) =>
  `<w:tc><w:tcPr><w:gridSpan w:val="${columns}"/></w:tcPr><w:p/></w:tc>`

/** Elements that only say something of what is in them. */
const UNWRAPPED = ['w:fldSimple', 'w:bdo', 'w:dir', 'w:rubyBase', DISPLAYED]

type Attributes = Record<string, string>
type Open = (attributes: Attributes, start: number, end: number) => void
type Close = (start: number, end: number) => void

const [RUBY_BEGIN = '', READING_BEGIN = '', READING_END = ''] = [...ruby('', '')]

const asChoice = (text: string | undefined) => (text === undefined ? '' : asText(text))

/** The entry that was chosen of a list in a form. */
function createChoice() {
  let entries: string[] | undefined
  let result = 0
  return {
    open(name: string, value = ''): void {
      if (name === 'w:ddList') {
        entries = []
        result = 0
      } else if (name === 'w:listEntry') entries?.push(value)
      else if (name === 'w:result' && entries) result = Number(value) || 0
    },
    take(): string | undefined {
      const chosen = entries?.[result]
      entries = undefined
      return chosen
    },
  }
}

/** A copy of `xml` from beginning to end, in which some of it is replaced and the text boxes are moved. */
function createCopy(xml: string) {
  const whole = newLevel()
  const levels = [whole]
  const current = () => levels.at(-1) ?? whole
  /** Everything before it was copied or left out. */
  let position = 0

  /** Copies up to `start`, then writes `text` and continues at `end`. */
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

/** The paragraphs and tables that an element refers to; '' if it refers to none. */
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
