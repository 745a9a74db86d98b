import { posix } from 'node:path'
import { createBoundedText, type Extracted, ExtractionError } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { elementToMarkdown } from './html.ts'
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
  const text = createBoundedText()
  for (const { path, isImage } of await chaptersOf(zip)) {
    const chapter = isImage ? await show(path) : await readChapter(zip, path, show)
    if (chapter !== '') text.add(`${chapter}\n\n`)
  }
  return { text: text.toString() }
}

async function readChapter(zip: ZipArchive, path: string, show: ShowPicture): Promise<string> {
  const { body } = parsePage(asHtml(await zip.readText(path)))
  const showFromHere = (href: string) => show(posix.join(posix.dirname(path), decodePath(href)))
  return body ? elementToMarkdown(body, showFromHere) : ''
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
