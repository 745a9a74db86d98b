import { ExtractionError, type Recognition } from '../extracted.ts'
import { MAX_RECOGNISED_PAGES, recogniserOf, tooManyPages } from '../recognise.ts'
import type { Fragment } from './pdf-fragments.ts'
import {
  areaOf,
  type PagePicture,
  type PdfPage,
  pagePictures,
  type Rectangle,
} from './pdf-pictures.ts'

/** The place that a character takes, in square points. */
const CHARACTER = 60
/** A picture with texts on less than this share of it was not read by whoever wrote them: a stamp, a number, a fax line. */
const MAX_SHARE_READ = 0.04
/** A page of which a picture covers more than this share is a scan. */
const SCAN = 0.5
/** Pictures in pages with text that are recognised; further ones are named. */
const MAX_WITHIN_TEXT = 200
/** The most characters of a page that may be a scan, where pictures are examined for that alone. */
const MAX_STAMP = 400

/** What is on a page beside its pictures. */
export interface PageTexts {
  texts: readonly Fragment[]
  view: readonly number[]
  hasText: boolean
}

export type Sight = ReturnType<typeof createSight>

/** Recognises the text of pictures that no text lies over: of scanned pages, and of tables that were pasted as pictures. */
export function createSight(recognition: Recognition | undefined) {
  /** Numbers of pages that are scans, which nothing reads. */
  const unread: number[] = []
  let pages = 0
  let within = 0
  let seen = 0

  async function recognise(pictures: readonly PagePicture[], what: string, engine: Recognition) {
    engine.onPage()
    const recogniser = recogniserOf(engine.engine)
    const texts: string[] = []
    for (const { file } of pictures) {
      const { text, isUnreadable, isDoubtful } = await recogniser.read(file())
      if (isUnreadable) engine.onUnreadable(what)
      if (isDoubtful) engine.onDoubtful?.(what)
      texts.push(text)
    }
    return texts.join('\n\n').trim()
  }

  async function readWithin(pictures: readonly PagePicture[], page: number, engine: Recognition) {
    const what = `a picture on page ${page}`
    const room = pictures.slice(0, MAX_WITHIN_TEXT - within)
    within += room.length
    if (room.length < pictures.length) engine.onUnreadable(what)
    if (room.length === 0) return ''
    try {
      return await recognise(room, what, engine)
    } catch (error) {
      // The text of the page is complete without it.
      if (!(error instanceof ExtractionError) || error.code !== 'damaged_file') throw error
      engine.onUnreadable(what)
      return ''
    }
  }

  /** Notes that a page is a scan, if nothing recognises it. */
  function note(page: PdfPage, number: number, pictures: readonly PagePicture[]): string {
    if (pictures.some((picture) => areaOf(picture) > SCAN * sizeOf(page))) unread.push(number)
    return ''
  }

  async function readScan(pictures: readonly PagePicture[], number: number, engine: Recognition) {
    if (pictures.length === 0) return ''
    if (++pages > MAX_RECOGNISED_PAGES) throw tooManyPages()
    return recognise(pictures, `page ${number}`, engine)
  }

  return {
    unread,
    /** Whether any page shows a picture. */
    get hasSeen() {
      return seen > 0
    },
    async read(page: PdfPage, number: number, on: PageTexts): Promise<string> {
      const { texts, view, hasText } = on
      if (!recognition && lengthOf(texts) > MAX_STAMP) return ''
      const { pictures, lost } = await pagePictures(page, view, !hasText)
      seen += pictures.length + Number(lost)
      const bare = hasText ? pictures.filter((picture) => isBare(picture, texts)) : pictures
      if (!recognition) return note(page, number, bare)
      if (hasText) return readWithin(bare, number, recognition)
      if (lost) recognition.onUnreadable(`page ${number} (an image is damaged)`)
      return readScan(bare, number, recognition)
    },
  }
}

const lengthOf = (texts: readonly Fragment[]) =>
  texts.reduce((sum, { text }) => sum + text.length, 0)

function sizeOf({ view: [left = 0, bottom = 0, right = 0, top = 0] }: PdfPage): number {
  return Math.abs((right - left) * (top - bottom))
}

/** Whether a picture has hardly any text over it. */
function isBare(picture: Rectangle, texts: readonly Fragment[]): boolean {
  const over = texts.filter(
    ({ left, right, base }) =>
      base > picture.top && base < picture.bottom && left < picture.right && right > picture.left,
  )
  return lengthOf(over) * CHARACTER < MAX_SHARE_READ * areaOf(picture)
}
