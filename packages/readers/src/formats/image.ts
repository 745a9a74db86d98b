import { createRequire } from 'node:module'
import { posix } from 'node:path'
import type { PicturePlace } from '@agent-server/lib/text/picture-mark.ts'
import {
  createBoundedText,
  type Extracted,
  ExtractionError,
  type Recognised,
  type Recognition,
} from '../extracted.ts'
import type { Pictures } from '../pictures.ts'
import {
  MAX_RECOGNISED_PAGES,
  MIN_PIXELS,
  nothingRead,
  recogniserOf,
  tooManyPages,
} from '../recognise.ts'
import {
  damagedPicture,
  greyPicture,
  MAX_PIXELS,
  refuseSize,
  toGrey,
} from '../recognition/pictures.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { type Size, sizeOf } from './image-size.ts'
import { tiffPages } from './tiff.ts'

const require = createRequire(import.meta.url)

export type PictureKind = 'png' | 'jpeg' | 'webp' | 'bmp' | 'gif' | 'tiff'

/** The forms in which models take pictures. */
const MEDIA_TYPES: Partial<Record<PictureKind, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
}

/** Recognises the text of an image that is a document, and marks its place if it is to be described. */
export async function extractImage(
  bytes: Buffer,
  kind: PictureKind,
  recognition: Recognition | undefined,
  pictures: Pictures | undefined,
): Promise<Extracted> {
  const mediaType = MEDIA_TYPES[kind]
  // Checks its size, before a model or an engine decodes it.
  picturesOf(bytes, kind)
  const mark = mediaType && pictures?.take({ number: 1, mediaType, content: bytes })
  if (!mark && recognition) return recogniseImage(bytes, kind, recognition)
  if (!mark) throw nothingRead(recognition)
  const result = recognition && (await recogniseImage(bytes, kind, recognition).catch(orEmpty))
  return { text: `${result?.text ?? ''}${mark}\n` }
}

/** A picture without legible text is described, not recognised. */
function orEmpty(error: unknown): undefined {
  if (!(error instanceof ExtractionError && error.code === 'empty_document')) throw error
}

/** Recognises the text of an image, or of the pages of a TIFF. `onPage` is called before each page. */
async function recogniseImage(
  bytes: Buffer,
  kind: PictureKind,
  recognition: Recognition,
): Promise<Extracted> {
  const recogniser = recogniserOf(recognition.engine)
  const pages: Recognised[] = []
  for (const page of picturesOf(bytes, kind)) {
    recognition.onPage()
    pages.push(await recogniser.read(page()))
    if (pages.at(-1)?.isUnreadable) recognition.onUnreadable(`page ${pages.length}`)
    if (pages.at(-1)?.isDoubtful) recognition.onDoubtful?.(`page ${pages.length}`)
  }
  const text = createBoundedText()
  const pageStarts = pages.map((page) => {
    const start = text.length
    if (page.text !== '') text.add(`${page.text}\n\n`)
    return start
  })
  if (text.length === 0) throw nothingRead(recognition)
  return { text: text.toString(), ...(kind === 'tiff' && { pageStarts }) }
}

/** Images within one document; further ones are not read. */
const MAX_WITHIN = 500
/** Assumed as the size of every TIFF, since a TIFF is hardly ever a logo. */
const A_PAGE = { width: 2_480, height: 3_508 }

/** The text in place of an image within a document: its text, and its mark if it is to be described; or ''. */
export type SeePicture = (open: ReadPicture, place: PicturePlace) => Promise<string>

type ReadPicture = () => Buffer | Promise<Buffer>

interface PictureFile {
  bytes: Buffer
  kind: PictureKind
}

/** Reports on one image. */
interface Report {
  onUnreadable(): void
  onDoubtful(): void
}

interface Sight {
  recognition?: Recognition | undefined
  pictures?: Pictures | undefined
}

/**
 * Images that cannot be read are reported to `recognition`, and read as ''; of extraction errors, only
 * `extraction_timeout` is thrown.
 */
export function createSeePicture(
  { recognition, pictures }: Sight,
  kindOf: (bytes: Buffer) => PictureKind | undefined,
): SeePicture {
  let count = 0
  const recognise = async (bytes: Buffer, kind: PictureKind, report: Report) => {
    if (!recognition || count++ >= MAX_WITHIN) return ''
    return recogniseImage(bytes, kind, { ...recognition, ...report }).then(
      ({ text }) => text.trim(),
      (error: unknown) => {
        if (!(error instanceof ExtractionError) || error.code === 'extraction_timeout') throw error
        // An image without text is a photograph; the rest of the document is complete.
        if (error.code !== 'empty_document') report.onUnreadable()
        return ''
      },
    )
  }
  const show = async (file: PictureFile, place: PicturePlace, report: Report) => {
    const { bytes, kind } = file
    const pixels = pixelsOf(bytes, kind)
    if (Number.isNaN(pixels)) report.onUnreadable()
    if (!(pixels >= MIN_PIXELS)) return ''
    const mediaType = pixels <= MAX_PIXELS ? MEDIA_TYPES[kind] : undefined
    const text = await recognise(bytes, kind, report)
    const mark = mediaType && pictures?.take({ ...place, mediaType, content: bytes })
    return [text, mark].filter(Boolean).join('\n\n')
  }
  return async (open, place) => {
    if (!(recognition || pictures)) return ''
    const { number, page } = place
    const what = page === undefined ? `picture ${number}` : `a picture on page ${page}`
    const report = {
      onUnreadable: () => recognition?.onUnreadable(what),
      onDoubtful: () => recognition?.onDoubtful?.(what),
    }
    const bytes = await openOrReport(open, report.onUnreadable)
    const kind = bytes && kindOf(bytes)
    return kind ? show({ bytes, kind }, place, report) : ''
  }
}

async function openOrReport(open: ReadPicture, onUnreadable: () => void) {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    onUnreadable()
    return undefined
  }
}

/** The text in place of an image, by its path or other source; '' if it is not in the file. */
export type ShowPicture = (source: string) => Promise<string>

/** Each image once, numbered in the order of their first appearance. `find` opens those that are in the file. */
export function createShowPicture(
  see: SeePicture,
  find: (source: string) => ReadPicture | undefined,
): ShowPicture {
  const sources = new Set<string>()
  return async (source) => {
    const read = sources.has(source) ? undefined : find(source)
    if (!read) return ''
    sources.add(source)
    return see(read, { number: sources.size })
  }
}

/** Shows the images of an archive by their paths. */
export const createShowEntry = (see: SeePicture, zip: ZipArchive) =>
  createShowPicture(see, (path) => {
    const name = posix.normalize(path)
    return zip.has(name) ? () => zip.readBytes(name) : undefined
  })

const DATA = /^data:image\/[\w.+-]{1,40};base64,/i

/** The image that a `data:` URI holds; undefined for any other source. */
export function dataOf(source: string): ReadPicture | undefined {
  const [head] = DATA.exec(source) ?? []
  return head === undefined ? undefined : () => Buffer.from(source.slice(head.length), 'base64')
}

/** Its number of pixels; NaN if it is damaged. A TIFF or GIF is bounded when it is decoded. */
function pixelsOf(bytes: Buffer, kind: PictureKind): number {
  if (kind === 'tiff') return A_PAGE.width * A_PAGE.height
  try {
    const { width, height } =
      kind === 'gif'
        ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
        : sizeOf(bytes, kind)
    return width * height
  } catch {
    return Number.NaN
  }
}

/** The pages of the file, each decoded on demand. */
function picturesOf(bytes: Buffer, kind: PictureKind): (() => Uint8Array)[] {
  if (kind === 'tiff') {
    const pages = readable(() => tiffPages(bytes))
    if (pages.length === 0) throw damagedPicture()
    if (pages.length > MAX_RECOGNISED_PAGES) throw tooManyPages()
    return pages.map((page) => () => readable(page))
  }
  if (kind === 'gif') return gifPictures(bytes)
  const { width, height } = readable(() => sizeOf(bytes, kind))
  refuseSize(width, height)
  return [() => bytes]
}

/** Calls a reader of a rare format. Throws `damaged_file` if it throws. */
function readable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw error instanceof ExtractionError ? error : damagedPicture(error)
  }
}

interface GifReader extends Size {
  frameInfo(frame: number): Size
  decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void
}

/** A frame declares its own size, which the decoder uses. */
function gifPictures(bytes: Buffer): (() => Uint8Array)[] {
  const { GifReader }: { GifReader: new (bytes: Uint8Array) => GifReader } = require('omggif')
  const gif = readable(() => new GifReader(bytes))
  const frame = readable(() => gif.frameInfo(0))
  for (const { width, height } of [gif, frame]) refuseSize(width, height)
  return [
    () =>
      readable(() => {
        const pixels = new Uint8Array(gif.width * gif.height * 4)
        gif.decodeAndBlitFrameRGBA(0, pixels)
        return greyPicture(gif.width, gif.height, toGrey(pixels, 4))
      }),
  ]
}
