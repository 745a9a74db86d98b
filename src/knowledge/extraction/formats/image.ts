import { createRequire } from 'node:module'
import {
  createBoundedText,
  type Extracted,
  ExtractionError,
  type Recognised,
  type Recognition,
} from '../extracted.ts'
import {
  MAX_RECOGNISED_PAGES,
  MIN_PIXELS,
  nothingRead,
  recogniserOf,
  tooManyPages,
} from '../recognise.ts'
import { damagedPicture, greyPicture, refuseSize, toGrey } from '../recognition/pictures.ts'
import { type Size, sizeOf } from './image-size.ts'
import { tiffPages } from './tiff.ts'

const require = createRequire(import.meta.url)

export type PictureKind = 'png' | 'jpeg' | 'webp' | 'bmp' | 'gif' | 'tiff'

/** Recognises the text of an image, or of the pages of a TIFF. `onPage` is called before each page. */
export async function extractImage(
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

/** Reads an image within a document; `what` names it in a warning. Resolves with '' if there is no text. */
export type SeePicture = (bytes: Buffer, what: string) => Promise<string>

/**
 * Without `recognition`, every image reads as ''. Images that cannot be read are reported to it and read as '', too; of
 * extraction errors, only `extraction_timeout` is thrown.
 */
export function createSeePicture(
  recognition: Recognition | undefined,
  kindOf: (bytes: Buffer) => PictureKind | undefined,
): SeePicture {
  if (!recognition) return async () => ''
  let seen = 0
  const readLarge = async (bytes: Buffer, kind: PictureKind, settings: Recognition) => {
    const { width, height } = smallSize(bytes, kind)
    if (width * height < MIN_PIXELS || seen++ >= MAX_WITHIN) return ''
    return (await extractImage(bytes, kind, settings)).text.trim()
  }
  return async (bytes, what) => {
    const kind = kindOf(bytes)
    if (!kind) return ''
    const onUnreadable = () => recognition.onUnreadable(what)
    return readLarge(bytes, kind, { ...recognition, onUnreadable }).catch((error: unknown) => {
      if (!(error instanceof ExtractionError) || error.code === 'extraction_timeout') throw error
      // An image without text is a photograph; the rest of the document is complete.
      if (error.code !== 'empty_document') onUnreadable()
      return ''
    })
  }
}

/** The size by which a logo is told from a picture of a page; a TIFF or GIF is bounded when it is decoded. */
function smallSize(bytes: Buffer, kind: PictureKind): Size {
  if (kind === 'tiff') return A_PAGE
  if (kind !== 'gif') return readable(() => sizeOf(bytes, kind))
  return readable(() => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }))
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

/** A frame has a size of its own, which its decoder goes by. */
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
