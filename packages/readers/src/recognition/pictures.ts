import { ExtractionError } from '../extracted.ts'

/** A2 at 300 dpi has about 35 million pixels; nothing larger than this is a page. */
export const MAX_PIXELS = 60_000_000

export function damagedPicture(cause?: unknown): ExtractionError {
  return new ExtractionError(
    'damaged_file',
    'The image is damaged or in an unsupported format',
    cause,
  )
}

/** Throws `file_too_complex` for an image that is larger than any page, and `damaged_file` for one without a size. */
export function refuseSize(width: number, height: number): void {
  if (!(width > 0 && height > 0)) throw damagedPicture()
  if (width * height <= MAX_PIXELS) return
  const millions = MAX_PIXELS / 1_000_000
  throw new ExtractionError(
    'file_too_complex',
    `The image has more than ${millions} million pixels`,
  )
}

/** Encodes a grey image as a file (PNM) that the recogniser reads. */
export function greyPicture(width: number, height: number, grey: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), grey])
}

/** Converts pixels in RGB, or RGBA on a white background, to grey. */
export function toGrey(pixels: Uint8Array | Uint8ClampedArray, channels: 3 | 4): Uint8Array {
  const grey = new Uint8Array(Math.floor(pixels.length / channels))
  for (let i = 0, from = 0; i < grey.length; i++, from += channels) {
    const [red = 0, green = 0, blue = 0] = [pixels[from], pixels[from + 1], pixels[from + 2]]
    const light = 0.299 * red + 0.587 * green + 0.114 * blue
    const opacity = channels === 4 ? (pixels[from + 3] ?? 255) / 255 : 1
    grey[i] = light * opacity + 255 * (1 - opacity)
  }
  return grey
}
