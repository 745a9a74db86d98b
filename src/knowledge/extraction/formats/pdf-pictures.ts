import { OPS } from 'pdfjs-dist'
import { z } from 'zod'
import { MIN_PIXELS } from '../recognise.ts'
import { greyPicture, MAX_PIXELS, toGrey } from '../recognition/pictures.ts'

const MAX_PICTURES = 50

/** The part of a PDF.js page that is used here. */
export interface PdfPage {
  getOperatorList(): Promise<{ fnArray: number[]; argsArray: unknown[] }>
  objs: { get(name: string, use: (value: unknown) => void): unknown }
  commonObjs: { get(name: string, use: (value: unknown) => void): unknown }
}

const Picture = z.object({
  width: z.number(),
  height: z.number(),
  data: z.instanceof(Uint8Array).or(z.instanceof(Uint8ClampedArray)),
  /** 1: one bit per pixel; 2: red, green and blue; 3: the same with opacity. */
  kind: z.number().optional(),
})
type Picture = z.output<typeof Picture>

/** A mask has its bits with it, or the name of an object with them. */
const Mask = z.object({ width: z.number(), height: z.number(), data: z.unknown() })

/**
 * Returns the images of a page from top to bottom, as files for the recogniser, with the strips of one image joined;
 * and whether there are further images, which the parser could not decode.
 */
export async function pagePictures(page: PdfPage): Promise<{ files: Uint8Array[]; lost: boolean }> {
  const { placed, lost } = await placedPictures(page)
  const large = placed.filter(
    ({ picture }) => picture.width * picture.height >= MIN_PIXELS || isStrip(picture),
  )
  const pictures = large.toSorted((a, b) => b.top - a.top).map(({ picture }) => toRows(picture))
  const joined: { width: number; rows: Uint8Array[] }[] = []
  for (const { width, grey } of pictures) {
    const last = joined.at(-1)
    if (last?.width === width) last.rows.push(grey)
    else joined.push({ width, rows: [grey] })
  }
  const files = joined
    .map(({ width, rows }) => ({ width, grey: Buffer.concat(rows) }))
    .filter(
      ({ width, grey }) => grey.length <= MAX_PIXELS && grey.length >= MIN_PIXELS && width > 0,
    )
    .map(({ width, grey }) => greyPicture(width, grey.length / width, grey))
  return { files, lost }
}

const isStrip = ({ width, height }: Picture) => width >= 600 && height >= 4

async function placedPictures(page: PdfPage) {
  const { fnArray, argsArray } = await page.getOperatorList()
  const placed: { top: number; picture: Picture }[] = []
  let lost = false
  const topAfter = createTops()
  for (const [index, operator] of fnArray.entries()) {
    const top = topAfter(operator, argsArray[index])
    const picture = await pictureOf(page, operator, argsArray[index])
    if (picture) placed.push({ top, picture })
    else if (operator === OPS.paintImageXObject) lost = true
    if (placed.length === MAX_PICTURES) break
  }
  return { placed, lost }
}

/** Tracks the vertical position of images. The rest of the matrix is ignored: scanned pages are hardly ever rotated. */
function createTops() {
  const states: number[] = []
  let top = 0
  return (operator: number, args: unknown): number => {
    if (operator === OPS.save) states.push(top)
    if (operator === OPS.restore) top = states.pop() ?? 0
    if (operator === OPS.transform) top += shiftOf(args)
    return top
  }
}

const shiftOf = (args: unknown) => (Array.isArray(args) ? Number(args[5]) : 0)

async function pictureOf(
  page: PdfPage,
  operator: number,
  args: unknown,
): Promise<Picture | undefined> {
  const first: unknown = Array.isArray(args) ? args[0] : undefined
  if (operator === OPS.paintImageXObject) return asPicture(await resolved(page, first))
  if (operator === OPS.paintInlineImageXObject) return asPicture(first)
  if (operator !== OPS.paintImageMaskXObject) return undefined
  const mask = Mask.safeParse(first).data
  if (!mask) return undefined
  const { width, height, data } = mask
  const object = typeof data === 'string' ? await resolved(page, data) : mask
  return asPicture({ width, height, ...asRecord(object), kind: 1 })
}

function resolved(page: PdfPage, name: unknown): Promise<unknown> {
  if (typeof name !== 'string') return Promise.resolve(undefined)
  const objects = name.startsWith('g_') ? page.commonObjs : page.objs
  return new Promise((resolve) => objects.get(name, resolve))
}

const asPicture = (value: unknown) => Picture.safeParse(value).data
const asRecord = (value: unknown) => z.looseObject({}).safeParse(value).data

function toRows({ width, height, data, kind }: Picture): { width: number; grey: Uint8Array } {
  if (kind === 2 || kind === 3) return { width, grey: toGrey(data, kind === 2 ? 3 : 4) }
  const grey = new Uint8Array(width * height)
  const bytesOfRow = (width + 7) >> 3
  for (let at = 0; at < grey.length; at++) {
    const [row, column] = [Math.floor(at / width), at % width]
    const bits = data[row * bytesOfRow + (column >> 3)] ?? 0
    grey[at] = (bits >> (7 - (column & 7))) & 1 ? 255 : 0
  }
  return { width, grey }
}
