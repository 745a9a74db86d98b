import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist'
import { z } from 'zod'
import {
  type BoundedText,
  commentBy,
  createBoundedText,
  type Extracted,
  ExtractionError,
  oneLine,
  passwordProtected,
  type Recognition,
} from '../extracted.ts'
import type { Pictures } from '../pictures.ts'
import { MAX_RECOGNISED_PAGES, nothingRead, recogniserOf, tooManyPages } from '../recognise.ts'
import { MAX_PIXELS } from '../recognition/pictures.ts'
import { type Block, toFragments } from './pdf-fragments.ts'
import { hasSpaced, withoutSpacing } from './pdf-letter-spacing.ts'
import { layOut, mayHaveTable } from './pdf-page-layout.ts'
import { type PdfPage, pagePictures, pictureFiles } from './pdf-pictures.ts'
import { type Operators, rulesOf } from './pdf-rules.ts'
import { toPageTexts } from './pdf-text.ts'

/** Far more than any book has. */
const MAX_PAGES = 50_000
const QUIET = 0
const PARSER = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))

type Pdf = PDFDocumentProxy

// The parser sums lengths and widths with `Math.sumPrecise`, which Node.js does not have yet.
if (!('sumPrecise' in Math)) {
  const sumPrecise = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)
  Object.assign(Math, { sumPrecise })
}

/** Extracts the text page by page. Pages that cannot be read are left out; if none can, the file is damaged. */
export async function extractPdf(
  bytes: Buffer,
  recognition?: Recognition,
  pictures?: Pictures,
): Promise<Extracted> {
  const pdf = await open(bytes)
  if (pdf.numPages > MAX_PAGES) {
    throw new ExtractionError('file_too_complex', `The file has more than ${MAX_PAGES} pages`)
  }
  const fields = await readFields(pdf)
  const reader: PageReader = {
    pdf,
    sight: createSight(recognition),
    pictures,
    drawn: createDrawn(bytes),
    room: createBoundedText(),
  }
  const pages: Page[] = []
  for (let number = 1; number <= pdf.numPages; number++) pages.push(await readPage(reader, number))
  if (pages.every(({ isUnread }) => isUnread)) throw damaged()
  const text = createBoundedText()
  const pageStarts: number[] = []
  for (const [index, pageText] of toPageTexts(pages.map(({ blocks }) => blocks)).entries()) {
    pageStarts.push(text.length)
    for (const part of [pageText, pages[index]?.rest, fields.get(index + 1)]) {
      if (part) text.add(`${part}\n\n`)
    }
  }
  if (text.toString().trim() === '') throw nothingRead(recognition)
  const tables = pages.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'table')).length
  return { text: text.toString(), pageStarts, ...(tables > 0 && { tables }) }
}

type Sight = (page: PdfPage, number: number) => Promise<string>

/** Recognises the text of pages that are images. */
function createSight(recognition: Recognition | undefined): Sight {
  let pages = 0
  return async (page, number) => {
    if (!recognition) return ''
    const { files, lost } = await pagePictures(page)
    if (lost) recognition.onUnreadable(`page ${number} (an image is damaged)`)
    if (files.length === 0) return ''
    if (++pages > MAX_RECOGNISED_PAGES) throw tooManyPages()
    recognition.onPage()
    const recogniser = recogniserOf(recognition.engine)
    const results = await Array.fromAsync(files, (picture) => recogniser.read(picture))
    if (results.some(({ isUnreadable }) => isUnreadable)) recognition.onUnreadable(`page ${number}`)
    const texts = results.map(({ text }) => text)
    return texts.join('\n\n').trim()
  }
}

/** Marks figures, or the whole page of a scan. */
async function markPictures(pictures: Pictures, page: PdfPage, number: number, hasText: boolean) {
  const files = await pictureFiles(page, hasText)
  const marks = files.map((file, index) =>
    pictures.take({ number: index + 1, page: number, mediaType: 'image/png', ...file }),
  )
  return marks.filter(Boolean).join('\n\n')
}

/** The parser takes over the memory of the buffer that it is given, so it gets a copy. */
async function open(bytes: Buffer, maxImageSize = MAX_PIXELS): Promise<Pdf> {
  try {
    return await getDocument({
      data: Uint8Array.from(bytes),
      verbosity: QUIET,
      maxImageSize,
      // Decoders for CCITT, JBIG2 and JPEG 2000, and character maps of fonts not embedded.
      wasmUrl: `${PARSER}/wasm/`,
      cMapUrl: `${PARSER}/cmaps/`,
    }).promise
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw passwordProtected()
    }
    throw damaged(error)
  }
}

/** The values of form fields are not part of the text of the pages. */
async function readFields(pdf: Pdf): Promise<Map<number, string>> {
  try {
    return fieldsByPage((await pdf.getFieldObjects())?.values() ?? [])
  } catch {
    // Left out, like a broken page.
    return new Map()
  }
}

interface Page {
  blocks: readonly Block[]
  /** Text without a position: recognised in images, or rotated. */
  rest: string
  isUnread?: boolean
}

interface PageReader {
  pdf: Pdf
  sight: Sight
  pictures: Pictures | undefined
  drawn: (number: number) => Promise<Operators>
  /** Limits the text of all pages in memory. */
  room: BoundedText
}

async function readPage(reader: PageReader, number: number): Promise<Page> {
  const { pdf, sight, pictures, drawn, room } = reader
  if (pictures?.isWanted(number) === false) return { blocks: [], rest: '' }
  try {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const view = page.getViewport({ scale: 1 }).transform.map(Number)
    const texts = toFragments(
      items.flatMap((item) => ('str' in item ? [item] : [])),
      view,
    )
    const { rotated } = texts
    const operators =
      mayHaveTable(texts.upright) || hasSpaced(texts.upright) ? await drawn(number) : NOTHING
    const upright = withoutSpacing(texts.upright, operators)
    const rules = rulesOf(operators, view)
    const blocks = layOut(upright, rules)
    const hasText = blocks.length + rotated.length > 0
    const rest = hasText ? rotated.join('\n') : await sight(page, number)
    // Of a scanned page, the text says all that can be read.
    const isScan = !hasText && rest !== ''
    const marks = pictures && !isScan ? await markPictures(pictures, page, number, hasText) : ''
    const notes = notesOf(await page.getAnnotations().catch(() => []))
    page.cleanup()
    for (const { text } of [...upright, { text: notes }]) room.add(text)
    return { blocks, rest: [rest, notes, marks].filter(Boolean).join('\n\n') }
  } catch (error) {
    if (error instanceof ExtractionError && error.code !== 'damaged_file') throw error
    // Whatever is wrong with this page, later ones may be intact.
    return { blocks: [], rest: '', isUnread: true }
  }
}

/** Pages that are drawn to find tables; further ones have tables by their gaps alone. */
const MAX_DRAWN_PAGES = 2_000
const NOTHING: Operators = { fnArray: [], argsArray: [] }

/** How pages are drawn. The file is opened once more for it, so that no image on these pages is decoded. */
function createDrawn(bytes: Buffer): PageReader['drawn'] {
  let document: Promise<Pdf> | undefined
  let pages = 0
  return async (number) => {
    if (++pages > MAX_DRAWN_PAGES) return NOTHING
    document ??= open(bytes, 1)
    const page = await (await document).getPage(number)
    const { fnArray, argsArray } = await page.getOperatorList()
    page.cleanup()
    return { fnArray, argsArray }
  }
}

/** An annotation of a page, as far as it is used here. */
const Annotation = z.object({
  subtype: z.string(),
  annotationFlags: z.number().catch(0),
  contentsObj: z.object({ str: z.string() }).catch({ str: '' }),
  titleObj: z.object({ str: z.string() }).catch({ str: '' }),
  /** The lines that its appearance shows. */
  textContent: z.array(z.string()).catch([]),
})
/** PDF 2.0, 12.5.3: hidden, and not to be viewed. */
const UNSEEN = 0x22
/** Fields are read for themselves; the text of a popup is that of its annotation. */
const WITHOUT_NOTE = ['Widget', 'Popup', 'Link']
const MAX_NOTES = 1_000

/** Text that was typed onto a page, and comments. */
function notesOf(annotations: readonly unknown[]): string {
  return annotations
    .slice(0, MAX_NOTES)
    .flatMap((one) => {
      const note = Annotation.safeParse(one).data
      if (!note || WITHOUT_NOTE.includes(note.subtype) || note.annotationFlags & UNSEEN) return []
      const words = note.contentsObj.str || note.textContent.join('\n')
      const text = words.replaceAll(/\r\n?/g, '\n').trim().slice(0, MAX_VALUE)
      if (text === '' || note.subtype === 'FreeText') return text
      return commentBy(note.titleObj.str.trim(), text)
    })
    .filter(Boolean)
    .join('\n\n')
}

function damaged(cause?: unknown): ExtractionError {
  return new ExtractionError('damaged_file', 'The PDF is damaged or incomplete', cause)
}

/** Forms have hundreds of fields; any beyond this limit are left out. */
const MAX_FIELDS = 10_000
const MAX_VALUE = 10_000
/** Types of fields without text that somebody entered. */
const WORDLESS = ['', 'button', 'signature']
const NOT_CHECKED = 'Off'

/** A field as the parser gives it, as far as it is used here. */
const Field = z.object({
  name: z.string(),
  type: z.string(),
  page: z.int().min(0),
  value: z.unknown().optional(),
  password: z.unknown().optional(),
  /** The values of a choice that the form stores for programs, and what readers see. */
  items: z.array(z.unknown()).catch([]),
})
const Item = z.object({ exportValue: z.unknown().optional(), displayValue: z.string() })

/** The values of a form's filled fields as lines `Name: value`, by page number, from 1. */
export function fieldsByPage(fields: Iterable<readonly unknown[]>): Map<number, string> {
  const pages = new Map<number, Set<string>>()
  let count = 0
  for (const widget of Array.from(fields).flat()) {
    const field = Field.safeParse(widget).data
    const line = field && toFieldLine(field)
    if (!line || count++ >= MAX_FIELDS) continue
    const number = field.page + 1
    // A choice has a widget for each of its options.
    pages.set(number, (pages.get(number) ?? new Set()).add(line))
  }
  return new Map(Array.from(pages, ([page, lines]) => [page, [...lines].join('\n')]))
}

function toFieldLine({ name, type, value, password, items }: z.output<typeof Field>) {
  if (password === true || WORDLESS.includes(type)) return undefined
  const isBox = type === 'checkbox' || type === 'radiobutton'
  const words = [value]
    .flat()
    .filter((one) => typeof one === 'string')
    .filter((one) => !(isBox && one === NOT_CHECKED))
    .map((one) => displayed(one, items))
    .join(', ')
    .slice(0, MAX_VALUE)
  const text = oneLine(words)
  // Some programs append indices to each part of the name.
  const plainName = name.replaceAll(/\[\d+\]/g, '').replaceAll(/\s+/g, ' ')
  return text === '' ? undefined : `${plainName}: ${text}`
}

function displayed(value: string, items: readonly unknown[]): string {
  const choices = items.map((item) => Item.safeParse(item).data)
  return choices.find((item) => item?.exportValue === value)?.displayValue ?? value
}
