import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist'
import { z } from 'zod'
import {
  createBoundedText,
  type Extracted,
  ExtractionError,
  type Recognition,
} from '../extracted.ts'
import { MAX_RECOGNISED_PAGES, nothingRead, recogniserOf, tooManyPages } from '../recognise.ts'
import { MAX_PIXELS } from '../recognition/pictures.ts'
import { type PdfPage, pagePictures } from './pdf-pictures.ts'

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
export async function extractPdf(bytes: Buffer, recognition?: Recognition): Promise<Extracted> {
  const pdf = await open(bytes)
  if (pdf.numPages > MAX_PAGES) {
    throw new ExtractionError('file_too_complex', `The file has more than ${MAX_PAGES} pages`)
  }
  const text = createBoundedText()
  const pageStarts: number[] = []
  const fields = await readFields(pdf)
  const sight = createSight(recognition)
  let unread = 0
  for (let number = 1; number <= pdf.numPages; number++) {
    pageStarts.push(text.length)
    const page = await readPage(pdf, number, sight)
    if (page === undefined) unread++
    else if (page !== '') text.add(`${page}\n\n`)
    const filled = fields.get(number)
    if (filled !== undefined) text.add(`${filled}\n\n`)
  }
  if (unread === pdf.numPages) throw damaged()
  if (text.toString().trim() === '') throw nothingRead(recognition)
  return { text: text.toString(), pageStarts }
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
    const read = await Array.fromAsync(files, (picture) => recogniser.read(picture))
    if (read.some(({ isUnreadable }) => isUnreadable)) recognition.onUnreadable(`page ${number}`)
    const texts = read.map(({ text }) => text)
    return texts.join('\n\n').trim()
  }
}

/** The parser takes over the memory of the buffer that it is given, so it gets a copy. */
async function open(bytes: Buffer): Promise<Pdf> {
  try {
    return await getDocument({
      data: Uint8Array.from(bytes),
      verbosity: QUIET,
      maxImageSize: MAX_PIXELS,
      // Decoders for CCITT, JBIG2 and JPEG 2000, and character maps of fonts not embedded.
      wasmUrl: `${PARSER}/wasm/`,
      cMapUrl: `${PARSER}/cmaps/`,
    }).promise
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new ExtractionError('encrypted_file', 'The file is protected with a password')
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

async function readPage(pdf: Pdf, number: number, sight: Sight): Promise<string | undefined> {
  try {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const text = toPageText(items.flatMap(toItem)) || (await sight(page, number))
    page.cleanup()
    return text
  } catch (error) {
    if (error instanceof ExtractionError && error.code !== 'damaged_file') throw error
    // The page is left out, whatever is wrong with it; later pages may be intact.
    return undefined
  }
}

type TextContent = Awaited<ReturnType<Awaited<ReturnType<Pdf['getPage']>>['getTextContent']>>

function toItem(item: TextContent['items'][number]): PdfItem[] {
  if (!('str' in item)) return []
  const { str: text, height, hasEOL: endsLine, transform } = item
  return [{ text, height, endsLine, bottom: Number(transform[5]) }]
}

function damaged(cause?: unknown): ExtractionError {
  return new ExtractionError('damaged_file', 'The PDF is damaged or incomplete', cause)
}

/** A run of text on a page; `bottom` and `height` in points. */
export interface PdfItem {
  text: string
  bottom: number
  height: number
  endsLine: boolean
}

interface Line {
  text: string
  bottom: number
  height: number
}

/** Lines that are further apart than this many line heights belong to different paragraphs. */
const PARAGRAPH_GAP = 1.9
/** A line is a heading if its letters are larger than those of most of the page by this factor. */
const HEADING_FACTOR = 1.25
const MAX_HEADING = 120
/** A word hyphenated at the end of a line: letter, hyphen, lower-case letter. */
const DIVIDED = /(\p{L})-\n(\p{Ll})/gu

/** The text of a page in paragraphs, with lines in larger letters as headings. */
export function toPageText(items: readonly PdfItem[]): string {
  const lines = toLines(items)
  const usual = usualHeight(lines)
  let text = ''
  let before: Line | undefined
  for (const line of lines) {
    const isHeading = usual > 0 && line.height >= usual * HEADING_FACTOR && isTitle(line.text)
    const isApart = !before || isHeading || gapAbove(line, before) > PARAGRAPH_GAP
    text += `${before ? (isApart ? '\n\n' : '\n') : ''}${isHeading ? '## ' : ''}${line.text}`
    if (isHeading) text += '\n'
    before = line
  }
  return text.replaceAll(DIVIDED, '$1$2')
}

function toLines(items: readonly PdfItem[]): Line[] {
  const lines: Line[] = []
  let open: Line | undefined
  for (const { text, bottom, height, endsLine } of items) {
    open ??= { text: '', bottom, height: 0 }
    open.text += text
    open.height = Math.max(open.height, height)
    if (!endsLine) continue
    lines.push(open)
    open = undefined
  }
  if (open) lines.push(open)
  return lines.map((line) => ({ ...line, text: tidy(line.text) })).filter(({ text }) => text !== '')
}

function tidy(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim()
}

/** The height that most characters have. */
function usualHeight(lines: readonly Line[]): number {
  const characters = new Map<number, number>()
  let usual = 0
  for (const { text, height } of lines) {
    characters.set(height, (characters.get(height) ?? 0) + text.length)
  }
  for (const [height, count] of characters) {
    if (count > (characters.get(usual) ?? 0)) usual = height
  }
  return usual
}

function isTitle(text: string): boolean {
  return text.length <= MAX_HEADING && /\p{L}/u.test(text)
}

function gapAbove(line: Line, before: Line): number {
  const height = Math.max(line.height, before.height)
  return height > 0 ? Math.abs(before.bottom - line.bottom) / height : 0
}

/** Forms have hundreds of fields; any beyond this limit are left out. */
const MAX_FIELDS = 10_000
const MAX_VALUE = 10_000
/** Types of fields that hold no text entered by the person who filled in the form. */
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
    .replaceAll(/\s+/g, ' ')
    .trim()
  // Some programs append indices to each part of the name.
  const plainName = name.replaceAll(/\[\d+\]/g, '').replaceAll(/\s+/g, ' ')
  return words === '' ? undefined : `${plainName}: ${words}`
}

function displayed(value: string, items: readonly unknown[]): string {
  const shown = items.map((item) => Item.safeParse(item).data)
  return shown.find((item) => item?.exportValue === value)?.displayValue ?? value
}
