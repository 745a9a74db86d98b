import { posix } from 'node:path'
import { createBoundedText, type Extracted } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import type { SeePicture } from './image.ts'
import { readXml } from './xml.ts'

const PRESENTATION = 'ppt/presentation.xml'

/**
 * Slide by slide, each under its title; a slide counts as a page. Text that `see` recognises in a slide's images, and
 * the speaker notes, follow the slide.
 */
export async function extractPptx(zip: ZipArchive, see: SeePicture): Promise<Extracted> {
  const text = createBoundedText()
  const pageStarts: number[] = []
  for (const [position, path] of (await slidePaths(zip)).entries()) {
    pageStarts.push(text.length)
    const { title, body } = readSlide(await zip.readText(path))
    text.add(`## ${title || `Slide ${position + 1}`}\n\n${body}\n\n`)
    for (const picture of await picturesOf(zip, path)) {
      const seen = await see(await zip.readBytes(picture), `a picture on page ${position + 1}`)
      if (seen !== '') text.add(`${seen}\n\n`)
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

/** Each image once, however often it is shown. */
async function picturesOf(zip: ZipArchive, slide: string): Promise<Set<string>> {
  const targets = [...(await targetsOf(zip, slide)).values()]
  const pictures = targets.filter(({ type, path }) => type.endsWith('/image') && zip.has(path))
  return new Set(pictures.map(({ path }) => path))
}

async function notesOf(zip: ZipArchive, slide: string): Promise<string> {
  for (const { type, path } of (await targetsOf(zip, slide)).values()) {
    if (type.endsWith('/notesSlide') && zip.has(path)) {
      return readSlide(await zip.readText(path)).body.replaceAll(/\s+/g, ' ')
    }
  }
  return ''
}

/** The parts that a part refers to, by relationship ID. */
async function targetsOf(zip: ZipArchive, part: string) {
  const targets = new Map<string, { type: string; path: string }>()
  const folder = posix.dirname(part)
  const relations = `${folder}/_rels/${posix.basename(part)}.rels`
  if (!zip.has(relations)) return targets
  readXml(await zip.readText(relations), {
    open(name, { Id: id, Type: type = '', Target: target = '' }) {
      if (name !== 'Relationship' || id === undefined) return
      const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target)
      targets.set(id, { type, path })
    },
  })
  return targets
}

export interface Slide {
  title: string
  /** Paragraphs, and tables as Markdown. */
  body: string
}

const TITLES = ['title', 'ctrTitle']
/** Types of placeholders that are repeated on every slide. */
const FURNITURE = ['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']

/** Reads the XML of a slide or of its notes. */
export function readSlide(xml: string): Slide {
  const title: string[] = []
  const lines: string[] = []
  let placeholder = ''
  let paragraph = ''
  let cell = ''
  let row: string[] = []
  let rows = 0
  let isTable = false
  let isText = false

  const endParagraph = () => {
    const text = paragraph.replaceAll(/\s+/g, ' ').trim()
    paragraph = ''
    if (text === '' || FURNITURE.includes(placeholder)) return
    if (isTable) cell += `${cell ? ' ' : ''}${text}`
    else if (TITLES.includes(placeholder)) title.push(text)
    else lines.push(text, '')
  }
  const endCell = () => {
    row.push(cell.replaceAll('|', '/'))
    cell = ''
  }
  const endRow = () => {
    lines.push(`| ${row.join(' | ')} |`)
    if (rows++ === 0) lines.push(`|${' --- |'.repeat(row.length)}`)
    row = []
  }

  readXml(xml, {
    open(name, { type }) {
      if (name === 'p:sp') placeholder = ''
      if (name === 'p:ph') placeholder = type ?? 'body'
      if (name === 'a:br') paragraph += ' '
      if (name === 'a:t') isText = true
      if (name !== 'a:tbl') return
      isTable = true
      rows = 0
    },
    text(data) {
      if (isText) paragraph += data
    },
    close(name) {
      if (name === 'a:t') isText = false
      if (name === 'a:p') endParagraph()
      // A table or an image that follows is in no placeholder.
      if (name === 'p:sp') placeholder = ''
      if (name === 'a:tc') endCell()
      if (name === 'a:tr') endRow()
      if (name !== 'a:tbl') return
      isTable = false
      lines.push('')
    },
  })
  return { title: title.join(' '), body: lines.join('\n').trim() }
}
