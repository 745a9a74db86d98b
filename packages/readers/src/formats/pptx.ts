import { createBoundedText, type Extracted, listed, oneLine, tabled } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { chartsOf, chartToText } from './chart.ts'
import type { SeePicture } from './image.ts'
import { createEquation } from './omml.ts'
import { pathsOf, targetsOf } from './ooxml.ts'
import { smartArtOf } from './smart-art.ts'
import { readXml } from './xml.ts'

const PRESENTATION = 'ppt/presentation.xml'

/**
 * Slide by slide, each under its title; a slide counts as a page. A footer that is not there yet, what `see`
 * says for a slide's images, and the speaker notes follow the slide.
 */
export async function extractPptx(zip: ZipArchive, see: SeePicture): Promise<Extracted> {
  const text = createBoundedText()
  const pageStarts: number[] = []
  const footers = new Set<string>()
  const isNew = (footer: string) => !footers.has(footer) && footers.add(footer)
  for (const [position, path] of (await slidePaths(zip)).entries()) {
    pageStarts.push(text.length)
    const slide = readSlide(await zip.readText(path), await textsOfGraphics(zip, path))
    text.add(`## ${slide.title || `Slide ${position + 1}`}\n\n${slide.body}\n\n`)
    for (const footer of slide.footers.filter(isNew)) text.add(`${footer}\n\n`)
    // Each image once, however often it is shown.
    const pictures = new Set((await pathsOf(zip, path, 'image')).values())
    for (const [index, picture] of [...pictures].entries()) {
      const place = { number: index + 1, page: position + 1 }
      const pictureText = await see(() => zip.readBytes(picture), place)
      if (pictureText !== '') text.add(`${pictureText}\n\n`)
    }
    const notes = await notesOf(zip, path)
    if (notes) text.add(`Notes: ${notes}\n\n`)
  }
  return { text: text.toString(), pageStarts }
}

/** The slides in the order of the presentation. */
async function slidePaths(zip: ZipArchive): Promise<string[]> {
  const targets = await targetsOf(zip, PRESENTATION)
  const paths: string[] = []
  readXml(await zip.readText(PRESENTATION), {
    open(name, attributes) {
      const target = name === 'p:sldId' && targets.get(attributes['r:id'] ?? '')
      if (target && zip.has(target.path)) paths.push(target.path)
    },
  })
  return paths
}

async function notesOf(zip: ZipArchive, slide: string): Promise<string> {
  const [path] = (await pathsOf(zip, slide, 'notesSlide')).values()
  return path === undefined ? '' : oneLine(readSlide(await zip.readText(path)).body)
}

/** The charts and the SmartArt of a slide as Markdown, by relationship ID. */
async function textsOfGraphics(zip: ZipArchive, slide: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const [id, chart] of await chartsOf(zip, slide)) texts.set(id, chartToText(chart))
  for (const [id, lines] of await smartArtOf(zip, slide)) texts.set(id, listed(lines))
  return texts
}

interface Slide {
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

/** A slide as it is read, element by element. */
function createSlide(graphics: ReadonlyMap<string, string>) {
  const title: string[] = []
  const blocks: string[] = []
  const footers: string[] = []
  let placeholder = ''
  let isText = false
  let paragraph = ''
  /** The table that is open. */
  let rows: string[][] | undefined

  const addBlock = (block: string) => {
    if (block !== '') blocks.push(block)
  }
  const addGraphic = (id = '') => addBlock(graphics.get(id) ?? '')
  const endParagraph = () => {
    const text = oneLine(paragraph)
    paragraph = ''
    if (text === '') return
    const row = rows?.at(-1)
    if (FOOTERS.includes(placeholder)) footers.push(text)
    else if (FURNITURE.includes(placeholder)) return
    else if (row) row.push(`${row.pop() ?? ''} ${text}`)
    else if (TITLES.includes(placeholder)) title.push(text)
    else addBlock(text)
  }
  const beginnings = new Map<string, (attributes: Record<string, string>) => void>([
    ['p:sp', () => (placeholder = '')],
    ['p:ph', ({ type = 'body' }) => (placeholder = type)],
    ['a:t', () => (isText = true)],
    ['a:fld', () => (placeholder = FOOTERS.includes(placeholder) ? FILLED_IN : placeholder)],
    ['a:br', () => (paragraph += ' ')],
    ['a:tbl', () => (rows = [])],
    ['a:tr', () => rows?.push([])],
    ['a:tc', () => rows?.at(-1)?.push('')],
    ['c:chart', (attributes) => addGraphic(attributes['r:id'])],
    ['cx:chart', (attributes) => addGraphic(attributes['r:id'])],
    ['dgm:relIds', (attributes) => addGraphic(attributes['r:dm'])],
  ])
  const ends = new Map<string, () => void>([
    ['a:t', () => (isText = false)],
    ['a:p', endParagraph],
    // A table or an image that follows is in no placeholder.
    ['p:sp', () => (placeholder = '')],
    [
      'a:tbl',
      () => {
        if (rows?.length) addBlock(tabled(rows))
        rows = undefined
      },
    ],
  ])

  return {
    open: (name: string, attributes: Record<string, string>) => beginnings.get(name)?.(attributes),
    text(data: string): void {
      if (isText) paragraph += data
    },
    close: (name: string) => ends.get(name)?.(),
    addText(text: string): void {
      paragraph += text
    },
    finish: (): Slide => ({ title: title.join(' '), body: blocks.join('\n\n'), footers }),
  }
}
