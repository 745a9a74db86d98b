import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist'
import {
  type BoundedText,
  createBoundedText,
  type Extracted,
  ExtractionError,
  passwordProtected,
  type Recognition,
  warningOf,
} from '../extracted.ts'
import type { Pictures } from '../pictures.ts'
import { nothingRead } from '../recognise.ts'
import { MAX_PIXELS } from '../recognition/pictures.ts'
import type { ReadWithin } from '../within.ts'
import { boxesOf, filesOf, notesOf } from './pdf-annotations.ts'
import { createAttachments } from './pdf-attachments.ts'
import { readFields } from './pdf-fields.ts'
import { type Block, toFragments, turnOf } from './pdf-fragments.ts'
import { hasSpaced, withoutSpacing } from './pdf-letter-spacing.ts'
import { layOut, mayHaveTable } from './pdf-page-layout.ts'
import { type PdfPage, pictureFiles } from './pdf-pictures.ts'
import { withoutReprints } from './pdf-reprints.ts'
import { type Operators, rulesOf } from './pdf-rules.ts'
import { createSight, type PageTexts, type Sight } from './pdf-scans.ts'
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

interface PdfOptions {
  recognition?: Recognition | undefined
  pictures?: Pictures | undefined
  /** Reads a file within the PDF; absent if they are not read. */
  within?: ReadWithin
}

/** Extracts the text page by page. Pages that cannot be read are left out and named; if none can, the file is damaged. */
export async function extractPdf(bytes: Buffer, options: PdfOptions = {}): Promise<Extracted> {
  const { recognition, pictures, within } = options
  const pdf = await open(bytes)
  if (pdf.numPages > MAX_PAGES) {
    throw new ExtractionError('file_too_complex', `The file has more than ${MAX_PAGES} pages`)
  }
  const fields = await readFields(pdf)
  const attachments = createAttachments(pdf)
  const reader: PageReader = {
    pdf,
    sight: createSight(recognition),
    pictures,
    drawn: createDrawn(bytes),
    room: createBoundedText(),
    attachments,
  }
  await attachments.addAll()
  const pages: Page[] = []
  for (let number = 1; number <= pdf.numPages; number++) pages.push(await readPage(reader, number))
  const unread = await unreadPages(bytes, pages)
  if (unread.length === pages.length) throw damaged()
  const { text, pageStarts } = joinPages(pages, fields)
  if (within) text.add(await attachments.read(within))
  if (text.toString().trim() === '') {
    throw reader.sight.hasSeen ? nothingRead(recognition) : emptyPdf()
  }
  const tables = pages.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'table')).length
  const warnings = [
    ...warningOf('unreadable_pages', 'Could not be read, and was left out', named(unread)),
    ...warningOf('scans_not_read', NO_OCR, named(reader.sight.unread)),
  ]
  return {
    text: text.toString(),
    pageStarts,
    ...(tables > 0 && { tables }),
    ...(warnings.length > 0 && { warnings }),
  }
}

function joinPages(pages: readonly Page[], fields: ReadonlyMap<number, string>) {
  const text = createBoundedText()
  const pageStarts: number[] = []
  for (const [index, pageText] of toPageTexts(pages.map(({ blocks }) => blocks)).entries()) {
    pageStarts.push(text.length)
    for (const part of [pageText, pages[index]?.rest, fields.get(index + 1)]) {
      if (part) text.add(`${part}\n\n`)
    }
  }
  return { text, pageStarts }
}

/** The most empty pages that are examined again. */
const MAX_EMPTY = 200
const WARNINGS = 1
/** The parser's warnings of a page that it cannot draw, except that it lacks a font of its own for it. */
const DAMAGE = /^Warning: (?!.*standardFontDataUrl)/

/** The numbers of the pages that cannot be read: those that failed, and empty ones that the parser complains about. */
async function unreadPages(bytes: Buffer, pages: readonly Page[]): Promise<number[]> {
  const numbersOf = (isMeant: (page: Page) => boolean) =>
    pages.flatMap((page, index) => (isMeant(page) ? [index + 1] : []))
  const failed = numbersOf(({ isUnread }) => isUnread === true)
  const empty = numbersOf(
    ({ blocks, rest, isUnread }) => blocks.length === 0 && rest === '' && isUnread === undefined,
  )
  if (empty.length === 0) return failed
  const complaints: string[] = []
  const { warn } = console
  // The parser says it nowhere else.
  console.warn = (message: unknown) => complaints.push(String(message))
  try {
    const pdf = await open(bytes, MAX_PIXELS, WARNINGS)
    for (const number of empty.slice(0, MAX_EMPTY)) {
      complaints.length = 0
      const page = await pdf.getPage(number)
      const { fnArray } = await page.getOperatorList()
      page.cleanup()
      const isDamaged = complaints.some((message) => DAMAGE.test(message))
      if (fnArray.length === 0 && isDamaged) failed.push(number)
    }
  } finally {
    console.warn = warn
  }
  return failed.toSorted((a, b) => a - b)
}

const emptyPdf = () =>
  new ExtractionError(
    'empty_document',
    'The PDF has no text and no images. Letters that are drawn as shapes are not read: print it to a PDF with text, or send pictures of its pages',
  )

const NO_OCR = 'A picture that was not recognised, because OCR is disabled'
const named = (pages: readonly number[]) => pages.map((page) => `page ${page}`)

/** Marks figures, or the whole page of a scan. */
async function markPictures(pictures: Pictures, page: PdfPage, number: number, on: PageTexts) {
  const files = await pictureFiles(page, on.view, on.hasText)
  const marks = files.map((file, index) =>
    pictures.take({ number: index + 1, page: number, mediaType: 'image/png', ...file }),
  )
  return marks.filter(Boolean).join('\n\n')
}

/** The parser takes over the memory of the buffer that it is given, so it gets a copy. */
async function open(bytes: Buffer, maxImageSize = MAX_PIXELS, verbosity = QUIET): Promise<Pdf> {
  try {
    return await getDocument({
      data: Uint8Array.from(bytes),
      verbosity,
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

interface Page {
  blocks: readonly Block[]
  /** Text without a position: recognised in images, or rotated. */
  rest: string
  /** Whether it cannot be read; false for a page that is not wanted. */
  isUnread?: boolean
}

interface PageReader {
  pdf: Pdf
  sight: Sight
  pictures: Pictures | undefined
  drawn: (number: number) => Promise<Operators>
  /** Limits the text of all pages in memory. */
  room: BoundedText
  attachments: ReturnType<typeof createAttachments>
}

async function readPage(reader: PageReader, number: number): Promise<Page> {
  const { pdf, sight, pictures, drawn, room, attachments } = reader
  if (pictures?.isWanted(number) === false) return { blocks: [], rest: '', isUnread: false }
  try {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const words = items.flatMap((item) => ('str' in item ? [item] : []))
    const view = uprightView(page, words)
    const texts = toFragments(words, view)
    const { rotated } = texts
    const letters = withoutReprints(texts.upright)
    const annotations = await page.getAnnotations().catch(() => [])
    const operators = mayHaveTable(letters) || hasSpaced(letters) ? await drawn(number) : NOTHING
    const upright = [...withoutSpacing(letters, operators), ...boxesOf(annotations, view)]
    const rules = rulesOf(operators, view)
    const blocks = layOut(upright, rules)
    const on = { texts: upright, view, hasText: blocks.length + rotated.length > 0 }
    const seen = await sight.read(page, number, on)
    // The recognised text of a scanned page is all that can be read of it.
    const isScan = !on.hasText && seen !== ''
    const marks = pictures && !isScan ? await markPictures(pictures, page, number, on) : ''
    const notes = notesOf(annotations)
    for (const { fileId, file } of filesOf(annotations)) attachments.add(fileId, file)
    page.cleanup()
    for (const { text } of [...upright, { text: notes }]) room.add(text)
    const parts = [rotated.join('\n'), seen, notes, marks]
    return { blocks, rest: parts.filter(Boolean).join('\n\n') }
  } catch (error) {
    if (error instanceof ExtractionError && error.code !== 'damaged_file') throw error
    // Whatever is wrong with this page, later ones may be intact.
    return { blocks: [], rest: '', isUnread: true }
  }
}

/** How a reader holds the page: wide tables often lie on their side. */
function uprightView(page: PdfPage, words: Parameters<typeof turnOf>[0]): number[] {
  const viewOf = (rotation: number) =>
    page.getViewport({ scale: 1, rotation }).transform.map(Number)
  const view = viewOf(page.rotate)
  const turn = turnOf(words, view)
  return turn === 0 ? view : viewOf(page.rotate + turn)
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

function damaged(cause?: unknown): ExtractionError {
  return new ExtractionError('damaged_file', 'The PDF is damaged or incomplete', cause)
}
