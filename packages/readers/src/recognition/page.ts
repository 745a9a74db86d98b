import { damagedPicture } from './pictures.ts'
import type { startCore } from './tesseract-core.ts'

/** A page in grey: 0 is black. */
export interface Page {
  width: number
  height: number
  grey: Uint8Array
}

type Core = Awaited<ReturnType<typeof startCore>>

/** Decodes an image, no side longer than `longest`: pixels beyond that are averaged. Throws `damaged_file`. */
export function decodePage({ core, memory }: Core, picture: Uint8Array, longest: number): Page {
  const api = new core.TessBaseAPI()
  core.FS.writeFile('/input', picture)
  api.InitForAnalysePage()
  if (api.SetImageFile(UPRIGHT, 0) === 1) throw damagedPicture()
  const pixels = api.GetInputImage()
  const [width, height] = [pixels.get_w(), pixels.get_h()]
  const words = new Uint32Array(memory.buffer, pixels.get_data(), pixels.get_wpl() * height)
  const depth = pixels.get_d()
  const light = lightOf(depth, depth === 32 && pixels.get_spp() === 4)
  const scale = Math.min(1, longest / Math.max(width, height))
  const size = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
  const page = shrink({ width, height, words, wordsOfRow: pixels.get_wpl(), light }, size)
  api.End()
  core.FS.unlink('/input')
  return page
}

/** As EXIF counts. */
const UPRIGHT = 1

type Light = (words: Uint32Array, row: number, column: number) => number

/** Reads a pixel. Leptonica packs pixels from the highest bits of a word on; of one bit, 1 is black. */
function lightOf(depth: number, isTransparent: boolean): Light {
  if (depth === 1) {
    return (words, row, x) => ((words[row + (x >> 5)] ?? 0) & (0x8000_0000 >>> (x & 31)) ? 0 : 255)
  }
  if (depth === 8) {
    return (words, row, x) => ((words[row + (x >> 2)] ?? 0) >>> (24 - 8 * (x & 3))) & 255
  }
  return (words, row, x) => {
    const word = words[row + x] ?? 0
    const grey = (77 * (word >>> 24) + 150 * ((word >>> 16) & 255) + 29 * ((word >>> 8) & 255)) >> 8
    return isTransparent ? 255 + (((grey - 255) * (word & 255)) >> 8) : grey
  }
}

interface Source {
  width: number
  height: number
  words: Uint32Array
  wordsOfRow: number
  light: Light
}

/** Each pixel becomes the average of those that it stands for. */
function shrink(source: Source, { width, height }: { width: number; height: number }): Page {
  const { words, wordsOfRow, light } = source
  const grey = new Uint8Array(width * height)
  const sums = new Float64Array(width)
  const counts = new Uint32Array(width)
  for (let y = 0; y < height; y++) {
    sums.fill(0)
    counts.fill(0)
    const last = Math.floor(((y + 1) * source.height) / height)
    for (let from = Math.floor((y * source.height) / height); from < last; from++) {
      for (let x = 0; x < source.width; x++) {
        const to = Math.floor((x * width) / source.width)
        sums[to] = (sums[to] ?? 0) + light(words, from * wordsOfRow, x)
        counts[to] = (counts[to] ?? 0) + 1
      }
    }
    for (let x = 0; x < width; x++) grey[y * width + x] = (sums[x] ?? 0) / (counts[x] ?? 1)
  }
  return { width, height, grey }
}

/** Turns a page by a quarter to the right. */
export function turnRight({ width, height, grey }: Page): Page {
  const result = new Uint8Array(grey.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      result[x * height + height - 1 - y] = grey[y * width + x] ?? 0
    }
  }
  return { width: height, height: width, grey: result }
}

export const turnOver = ({ width, height, grey }: Page): Page => ({
  width,
  height,
  grey: grey.toReversed(),
})

/** The grey at a place between pixels; beyond the page it is that of its edge. */
export function greyAt({ width, height, grey }: Page, x: number, y: number): number {
  const [left, top] = [clamp(x, width - 1), clamp(y, height - 1)]
  const [x0, y0] = [Math.floor(left), Math.floor(top)]
  const [x1, y1] = [Math.min(x0 + 1, width - 1), Math.min(y0 + 1, height - 1)]
  const [right, below] = [left - x0, top - y0]
  const upper = (grey[y0 * width + x0] ?? 0) * (1 - right) + (grey[y0 * width + x1] ?? 0) * right
  const lower = (grey[y1 * width + x0] ?? 0) * (1 - right) + (grey[y1 * width + x1] ?? 0) * right
  return upper * (1 - below) + lower * below
}

const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most)
