import { posix } from 'node:path'
import { createBoundedText, type Extracted, ExtractionError } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { elementToMarkdown } from './html.ts'
import { raisedClassesOf } from './html-marks.ts'
import { parsePage } from './html-page.ts'
import { createShowEntry, type SeePicture, type ShowPicture } from './image.ts'
import { readXml } from './xml.ts'

const CONTAINER = 'META-INF/container.xml'
/** Where book shops state who may read a book. */
const RIGHTS = 'META-INF/rights.xml'

/** The chapters in reading order, of which some may be images, with what `see` says for images where these are. */
export async function extractEpub(zip: ZipArchive, see: SeePicture): Promise<Extracted> {
  if (zip.has(RIGHTS)) {
    throw new ExtractionError('encrypted_file', 'The book is protected by DRM')
  }
  const show = createShowEntry(see, zip)
  const book = { zip, show, readSheet: createReadSheet(zip) }
  const text = createBoundedText()
  for (const { path, isImage } of await chaptersOf(zip)) {
    const chapter = isImage ? await show(path) : await readChapter(book, path)
    if (chapter !== '') text.add(`${chapter}\n\n`)
  }
  return { text: text.toString() }
}

async function readChapter(book: Book, path: string): Promise<string> {
  const page = parsePage(asHtml(await book.zip.readText(path)))
  const pathOf = (href: string) => posix.join(posix.dirname(path), decodePath(href))
  const css = Array.from(page.querySelectorAll('style'), ({ textContent }) => textContent ?? '')
  for (const sheet of page.querySelectorAll('link[rel~=stylesheet]')) {
    css.push(await book.readSheet(pathOf(sheet.getAttribute('href') ?? '')))
  }
  const { body } = page
  const classes = raisedClassesOf(css.join('\n'))
  return body ? elementToMarkdown(body, (href) => book.show(pathOf(href)), classes) : ''
}

interface Book {
  zip: ZipArchive
  show: ShowPicture
  readSheet(path: string): Promise<string>
}

/** Reads style sheets, each once, of which chapters share one. */
function createReadSheet(zip: ZipArchive): Book['readSheet'] {
  const sheets = new Map<string, string>()
  return async (path) => {
    const css = sheets.get(path) ?? (zip.has(path) ? await zip.readText(path) : '')
    sheets.set(path, css)
    return css
  }
}

/** Chapters are XHTML, in which an empty element may be self-closing; the XML declaration would be taken for text. */
function asHtml(xhtml: string): string {
  return xhtml
    .replace(/^\uFEFF?\s*<\?xml[^>]*>/, '')
    .replaceAll(/<([a-z][\w:-]*)(\s[^<>]*)?\/>/gi, (tag, name: string, attributes = '') =>
      VOID.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
    )
}

/** The elements of HTML that have no end tag. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

interface Chapter {
  path: string
  isImage: boolean
}

async function chaptersOf(zip: ZipArchive): Promise<Chapter[]> {
  const book = await bookPath(zip)
  const folder = posix.dirname(book)
  const items = new Map<string, Chapter>()
  /** Each once, however often it is named. */
  const chapters = new Map<string, Chapter>()
  readXml(await zip.readText(book), {
    open(qualified, { id, href, idref, 'media-type': type }) {
      const name = qualified.replace(/^.*:/, '')
      if (name === 'item' && id !== undefined && href !== undefined) {
        const isImage = /^image\/(?!svg)/.test(type ?? '')
        items.set(id, { path: posix.join(folder, decodePath(href)), isImage })
      }
      const chapter = name === 'itemref' && items.get(idref ?? '')
      if (chapter && zip.has(chapter.path)) chapters.set(chapter.path, chapter)
    },
  })
  return [...chapters.values()]
}

async function bookPath(zip: ZipArchive): Promise<string> {
  let path = ''
  readXml(await zip.readText(CONTAINER), {
    open(name, attributes) {
      if (name.endsWith('rootfile')) path ||= attributes['full-path'] ?? ''
    },
  })
  return path
}

/** An unescaped percent sign is taken literally. */
function decodePath(href: string): string {
  const [path = ''] = href.split('#')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
