import { createRequire } from 'node:module'
import type * as Tiff from 'utif2'
import { damagedPicture, greyPicture, refuseSize, toGrey } from '../recognition/pictures.ts'
import { jpegSize } from './image-size.ts'

const require = createRequire(import.meta.url)

/** Bits of one pixel: four samples of 16 bits. */
const MAX_BITS = 64
/** As in the specification. A picture of a million tiles would take a million calls. */
const MIN_TILE = 16
/** None, CCITT (1D, G3, G4), LZW, JPEG, deflate (two numbers), PackBits: what scanners write. */
const COMPRESSIONS = [1, 2, 3, 4, 5, 7, 8, 32_946, 32_773]
const JPEG = 7

type Page = Tiff.IFD

/** The pages of a TIFF, each decoded on demand to an image in grey, once its decoder's output is known to be bounded. */
export function tiffPages(bytes: Buffer): (() => Uint8Array)[] {
  // `import` would expose the functions under another name in Node.js than under vitest.
  const tiff: typeof Tiff = require('utif2')
  const buffer = Uint8Array.from(bytes).buffer
  return tiff.decode(buffer).map((page) => () => {
    refuseLarge(page, bytes)
    tiff.decodeImage(buffer, page)
    return greyPicture(page.width, page.height, toGrey(tiff.toRGBA8(page), 4))
  })
}

const numbersOf = (value: unknown) => (Array.isArray(value) ? value.map(Number) : [])
const numberOf = (value: unknown, otherwise = 0) => numbersOf(value)[0] ?? otherwise

/** Throws `file_too_complex` or `damaged_file`. */
function refuseLarge(page: Page, bytes: Buffer): void {
  const { t256, t257, t258, t259, t277 } = page
  const [width, height] = [numberOf(t256), numberOf(t257)]
  refuseSize(width, height)
  const compression = numberOf(t259, 1)
  if (!COMPRESSIONS.includes(compression)) throw damagedPicture()
  if (numberOf(t258, 1) * numberOf(t277, 1) > MAX_BITS) throw damagedPicture()
  const { offsets, lengths, most } = partsOf(page, { width, height })
  if (offsets.length > most * numberOf(t277, 1)) throw damagedPicture()
  // Parts that overlap would be decoded again and again.
  if (sum(lengths) > bytes.length) throw damagedPicture()
  if (compression === JPEG) refuseLargeJpegs(offsets, lengths, bytes)
}

/** The strips or tiles of the picture, and how many of them each sample of a pixel needs. */
function partsOf(page: Page, { width, height }: { width: number; height: number }) {
  const { t273, t278, t279, t322, t323, t324, t325 } = page
  if (t322 === undefined) {
    const rows = Math.max(1, numberOf(t278, height))
    const offsets = numbersOf(t273)
    return { offsets, lengths: numbersOf(t279), most: Math.ceil(height / rows) }
  }
  const [across, down] = [numberOf(t322), numberOf(t323)]
  if (!(across >= MIN_TILE && down >= MIN_TILE)) throw damagedPicture()
  const [columns, rows] = [Math.ceil(width / across), Math.ceil(height / down)]
  refuseSize(columns * across, rows * down)
  return { offsets: numbersOf(t324), lengths: numbersOf(t325), most: columns * rows }
}

/** A JPEG within a TIFF declares its own size, which the decoder uses. */
function refuseLargeJpegs(offsets: number[], lengths: number[], bytes: Buffer): void {
  const pixels = offsets.map((offset, part) => {
    const { width, height } = jpegSize(bytes.subarray(offset, offset + (lengths[part] ?? 0)))
    return width * height
  })
  refuseSize(sum(pixels), 1)
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
