import { OPS } from 'pdfjs-dist'
import { z } from 'zod'
import { MIN_PIXELS } from '../recognise.ts'
import { greyPicture, MAX_PIXELS, toGrey } from '../recognition/pictures.ts'
import { createMatrices } from './pdf-rules.ts'
import { encodePng } from './png.ts'

const MAX_PICTURES = 50

/** The part of a PDF.js page that is used here. */
export interface PdfPage {
  getOperatorList(): Promise<{ fnArray: number[]; argsArray: unknown[] }>
  objs: { get(name: string, use: (value: unknown) => void): unknown }
  commonObjs: { get(name: string, use: (value: unknown) => void): unknown }
  /** Its corners, in points. */
  view: number[]
  /** By how many degrees it is shown turned clockwise. */
  rotate: number
  getViewport(as: { scale: number; rotation: number }): { transform: unknown[] }
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

/** An image of a page, as a file for the recogniser, and where it is: counted from the top, like texts. */
export interface PagePicture extends Rectangle {
  /** Encoded when it is needed. */
  file(): Uint8Array
}

/**
 * Returns the images of a page from top to bottom, with the strips of one image joined; and whether there are further
 * images, which the parser could not decode. `isWhole` joins all of one width: on a page without texts they are one scan.
 */
export async function pagePictures(page: PdfPage, view: readonly number[], isWhole: boolean) {
  const { placed, lost } = await placedPictures(page, view)
  const pictures = joined(placed, 1, isWhole).map(
    ({ width, height, pixels, place }): PagePicture => ({
      ...place,
      file: () => greyPicture(width, height, pixels),
    }),
  )
  return { pictures, lost }
}

/** Pixels: models reduce larger pictures. */
const MAX_SIDE = 1_536
/** A picture that covers more of a page with text is a scan of the page, or its background. */
const MAX_SHARE = 0.8

/** In points, between the strips of one image. */
const MAX_GAP = 2

/** The images of a page from top to bottom, to be described: their pixels in RGB, and how to make a file of them. */
export async function pictureFiles(page: PdfPage, view: readonly number[], hasText: boolean) {
  const { placed } = await placedPictures(page, view)
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view
  const share =
    placed.reduce((sum, place) => sum + areaOf(place), 0) / ((right - left) * (top - bottom))
  if (hasText && share > MAX_SHARE) return []
  return joined(placed, 3, false).map(({ width, height, pixels }) => ({
    content: pixels,
    encode: () => encodePng(width, height, pixels, MAX_SIDE),
  }))
}

interface Strips {
  width: number
  place: Rectangle
  rows: Uint8Array[]
}

/** The large images, with the strips of one image joined, in grey or RGB. */
function joined(placed: readonly Placed[], channels: 1 | 3, isWhole: boolean) {
  const strips: Strips[] = []
  const large = placed.filter(
    ({ picture }) => picture.width * picture.height >= MIN_PIXELS || isStrip(picture),
  )
  for (const { picture, ...place } of large.toSorted((a, b) => a.top - b.top)) {
    const last = strips.at(-1)
    const rows = channels === 1 ? toGreyRows(picture) : toColours(picture)
    const isNext = isWhole || Math.abs((last?.place.bottom ?? 0) - place.top) < MAX_GAP
    if (last?.width === picture.width && isNext) {
      last.rows.push(rows)
      last.place = around(last.place, place)
    } else strips.push({ width: picture.width, place, rows: [rows] })
  }
  return strips.flatMap(({ width, rows, place }) => {
    const pixels = Buffer.concat(rows)
    const count = pixels.length / channels
    const isPicture = count <= MAX_PIXELS && count >= MIN_PIXELS && width > 0
    return isPicture ? { width, height: count / width, pixels, place } : []
  })
}

const around = (one: Rectangle, other: Rectangle): Rectangle => ({
  left: Math.min(one.left, other.left),
  right: Math.max(one.right, other.right),
  top: Math.min(one.top, other.top),
  bottom: Math.max(one.bottom, other.bottom),
})

const isStrip = ({ width, height }: Picture) => width >= 600 && height >= 4

/** A place on a page, in points from its top and its left. */
export interface Rectangle {
  left: number
  right: number
  top: number
  bottom: number
}

export const areaOf = ({ left, right, top, bottom }: Rectangle) => (right - left) * (bottom - top)

interface Placed extends Rectangle {
  picture: Picture
}

async function placedPictures(page: PdfPage, view: readonly number[]) {
  const { fnArray, argsArray } = await page.getOperatorList()
  const placed: Placed[] = []
  let lost = false
  const matrixAt = createMatrices(view)
  for (const [index, operator] of fnArray.entries()) {
    const args: unknown = argsArray[index]
    const matrix = matrixAt(operator, Array.isArray(args) ? args : [])
    const picture = await pictureOf(page, operator, args)
    if (picture) placed.push({ ...placeOf(matrix), picture })
    else if (operator === OPS.paintImageXObject) lost = true
    if (placed.length === MAX_PICTURES) break
  }
  return { placed, lost }
}

/** An image is drawn in a square of one unit. */
function placeOf([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Rectangle {
  const [xs, ys] = [
    [e, e + a, e + c, e + a + c],
    [f, f + b, f + d, f + b + d],
  ]
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
  }
}

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

function toGreyRows({ width, height, data, kind }: Picture): Uint8Array {
  if (kind === 2 || kind === 3) return toGrey(data, kind === 2 ? 3 : 4)
  const grey = new Uint8Array(width * height)
  const bytesOfRow = (width + 7) >> 3
  for (let at = 0; at < grey.length; at++) {
    const [row, column] = [Math.floor(at / width), at % width]
    const bits = data[row * bytesOfRow + (column >> 3)] ?? 0
    grey[at] = (bits >> (7 - (column & 7))) & 1 ? 255 : 0
  }
  return grey
}

/** In RGB, on a white background. */
function toColours(picture: Picture): Uint8Array {
  const { data, kind } = picture
  if (kind === 2) return Uint8Array.from(data)
  const grey = kind === 3 ? undefined : toGreyRows(picture)
  const pixels = grey ? grey.length : Math.floor(data.length / 4)
  const colours = new Uint8Array(pixels * 3)
  for (let i = 0; i < pixels; i++) {
    const opacity = grey ? 1 : (data[i * 4 + 3] ?? 255) / 255
    for (let channel = 0; channel < 3; channel++) {
      const light = grey?.[i] ?? data[i * 4 + channel] ?? 0
      colours[i * 3 + channel] = light * opacity + 255 * (1 - opacity)
    }
  }
  return colours
}
