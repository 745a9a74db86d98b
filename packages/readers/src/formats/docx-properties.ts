import { label } from '../marks.ts'
import { headingAt, isOn, type WordStyles } from './docx-styles.ts'
import { escapeXml } from './xml.ts'

/** What gives a paragraph its label: by its style, its list and its level in that. */
export type NumberParagraph = (style?: string, numberId?: string, level?: number) => string

interface Paragraph {
  /** Where its properties begin, behind the tag. */
  start: number
  style?: string
  numberId?: string
  level?: number
  outline?: number
}

interface Run {
  style?: string
  verticalAlign?: string
  isHidden?: boolean
  /** Half points above the line. */
  shift?: number
}

const PARAGRAPH: Record<string, (paragraph: Paragraph, value: string) => void> = {
  'w:pStyle': (paragraph, value) => Object.assign(paragraph, { style: value }),
  'w:numId': (paragraph, value) => Object.assign(paragraph, { numberId: value }),
  'w:ilvl': (paragraph, value) => Object.assign(paragraph, { level: Number(value) || 0 }),
  'w:outlineLvl': (paragraph, value) => Object.assign(paragraph, { outline: Number(value) }),
}

/** Puts text into the XML at an offset. */
type Insert = (at: number, xml: string) => void

const RAISED = new Set(['superscript', 'subscript'])
/** Half points by which text is an exponent or the mark of a note. */
const MIN_SHIFT = 4

function shifted(shift = 0): string | undefined {
  if (Math.abs(shift) < MIN_SHIFT) return undefined
  return shift > 0 ? 'superscript' : 'subscript'
}

/** Properties as they were before a change that was tracked. */
const FORMER = new Set(['w:pPrChange', 'w:rPrChange', 'w:sectPrChange'])

/**
 * Reads the properties of paragraphs and runs, and says in the XML what only the styles and lists say: levels of
 * headings, numbers, and what stands above or below the line.
 */
export function createProperties(styles: WordStyles, number: NumberParagraph, insert: Insert) {
  const headings = new Map(styles.headings())
  let paragraph: Paragraph | undefined
  let run: Run | undefined
  let former = 0
  /** Whether the text of the paragraph, and of the run, is hidden; a run may say otherwise than its paragraph. */
  let isParagraphHidden = false
  let isHidden = false

  const openRun = (name: string, value: string) => {
    if (name === 'w:rStyle' && run) run.style = value
    if (name === 'w:vertAlign' && run) run.verticalAlign = value
    if (name === 'w:vanish' && run) run.isHidden = isOn(value)
    if (name === 'w:position' && run) run.shift = Number(value)
  }
  const beginText = (name: string) => {
    if (name === 'w:p') isParagraphHidden = false
    if (name === 'w:r') isHidden = isParagraphHidden
  }
  const openProperty = (name: string, value: string) => {
    if (run) openRun(name, value)
    else if (paragraph) PARAGRAPH[name]?.(paragraph, value)
  }
  const closeParagraph = (end: number, isRepeated: boolean) => {
    if (!paragraph) return
    const { start, style, outline, numberId, level } = paragraph
    paragraph = undefined
    isParagraphHidden = styles.find(style, 'isHidden') ?? false
    const heading = outline === undefined ? headings.get(style ?? '') : headingAt(outline)
    if (heading !== undefined) insert(start, `<w:pStyle w:val="Heading${heading}"/>`)
    const text = isRepeated ? '' : number(style, numberId, level)
    if (text !== '')
      insert(end, `<w:r><w:t xml:space="preserve">${escapeXml(label(text))}</w:t></w:r>`)
  }
  const closeRun = (start: number) => {
    const inherited = shifted(run?.shift) ?? styles.find(run?.style, 'verticalAlign') ?? ''
    isHidden = run?.isHidden ?? styles.find(run?.style, 'isHidden') ?? isParagraphHidden
    const isNew = run && run.verticalAlign === undefined && RAISED.has(inherited)
    run = undefined
    if (isNew) insert(start, `<w:vertAlign w:val="${inherited}"/>`)
  }

  return {
    isHidden: () => isHidden,
    open(name: string, attributes: Record<string, string>, end: number): void {
      if (FORMER.has(name)) former++
      if (former > 0) return
      beginText(name)
      if (name === 'w:pPr') paragraph = { start: end }
      else if (name === 'w:rPr' && !paragraph) run = {}
      else openProperty(name, attributes['w:val'] ?? '')
    },
    /** `isRepeated` means that an alternative for old programs repeats the paragraph. */
    close(name: string, start: number, end: number, isRepeated: boolean): void {
      if (FORMER.has(name)) former--
      if (former > 0) return
      if (name === 'w:pPr') closeParagraph(end, isRepeated)
      else if (name === 'w:rPr') closeRun(start)
    },
  }
}
