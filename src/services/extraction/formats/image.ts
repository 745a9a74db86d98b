import { createRequire } from 'node:module'
import type * as Tiff from 'utif2'
import {
  createBoundedText,
  type Extracted,
  ExtractionError,
  type Recognition,
} from '../extracted.ts'
import {
  damagedPicture,
  greyPicture,
  MAX_RECOGNISED_PAGES,
  MIN_PIXELS,
  nothingRead,
  type Recognised,
  recogniserOf,
  refuseSize,
  toGrey,
  tooManyPages,
} from '../recognise.ts'

const require = createRequire(import.meta.url)

export type PictureKind = 'png' | 'jpeg' | 'webp' | 'bmp' | 'gif' | 'tiff'

/** Recognises the text of an image, or of the pages of a TIFF. `onPage` is called before each page. */
export async function extractImage(
  bytes: Buffer,
  kind: PictureKind,
  recognition: Recognition,
): Promise<Extracted> {
  const recogniser = recogniserOf(recognition.languages)
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
    const { width, height } = kind === 'tiff' ? A_PAGE : sizeOf(bytes, kind)
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

/** The pages of the file, each decoded on demand. */
function picturesOf(bytes: Buffer, kind: PictureKind): (() => Uint8Array)[] {
  if (kind === 'tiff') return tiffPages(bytes)
  const { width, height } = sizeOf(bytes, kind)
  refuseSize(width, height)
  return [() => (kind === 'gif' ? gifPicture(bytes) : bytes)]
}

function tiffPages(bytes: Buffer): (() => Uint8Array)[] {
  // `import` would expose the functions under another name in Node.js than under vitest.
  const tiff: typeof Tiff = require('utif2')
  const buffer = Uint8Array.from(bytes).buffer
  const pages = readable(() => tiff.decode(buffer))
  if (pages.length === 0) throw damagedPicture()
  if (pages.length > MAX_RECOGNISED_PAGES) throw tooManyPages()
  return pages.map((page) => () => {
    const { t256, t257 } = page
    refuseSize(firstOf(t256), firstOf(t257))
    return readable(() => {
      tiff.decodeImage(buffer, page)
      return greyPicture(page.width, page.height, toGrey(tiff.toRGBA8(page), 4))
    })
  })
}

/** Calls a reader of a rare format. Throws `damaged_file` if it throws. */
function readable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw damagedPicture(error)
  }
}

const firstOf = (value: unknown) => Number(Array.isArray(value) ? value[0] : value)

interface Size {
  width: number
  height: number
}

interface GifReader extends Size {
  decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void
}

function gifPicture(bytes: Buffer): Uint8Array {
  const { GifReader }: { GifReader: new (bytes: Uint8Array) => GifReader } = require('omggif')
  return readable(() => {
    const gif = new GifReader(bytes)
    const pixels = new Uint8Array(gif.width * gif.height * 4)
    gif.decodeAndBlitFrameRGBA(0, pixels)
    return greyPicture(gif.width, gif.height, toGrey(pixels, 4))
  })
}

/** The size according to the file header, before anything is decoded. Throws `damaged_file`. */
function sizeOf(bytes: Buffer, kind: Exclude<PictureKind, 'tiff'>): Size {
  return readable(() => {
    switch (kind) {
      case 'png':
        return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      case 'gif':
        return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
      case 'bmp':
        return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) }
      case 'webp':
        return webpSize(bytes)
      case 'jpeg':
        return jpegSize(bytes)
    }
  })
}

function webpSize(bytes: Buffer): Size {
  const form = bytes.toString('latin1', 12, 16)
  if (form === 'VP8X')
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (form === 'VP8 ') {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The frame header of a JPEG follows segments of any length. */
function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    // A marker may be preceded by any number of fill bytes.
    while (bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
  }
  throw new Error('The JPEG has no frame')
}
