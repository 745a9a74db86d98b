import { posix } from 'node:path'
import { createBoundedText, type Extracted, ExtractionError } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { elementToMarkdown, parsePage } from './html.ts'
import { createShowEntry, type SeePicture } from './image.ts'
import { readXml } from './xml.ts'

const CONTAINER = 'META-INF/container.xml'
/** Where book shops state who may read a book. */
const RIGHTS = 'META-INF/rights.xml'

/** The chapters in reading order, with what `see` says for images where these are. */
export async function extractEpub(zip: ZipArchive, see: SeePicture): Promise<Extracted> {
  if (zip.has(RIGHTS)) {
    throw new ExtractionError('encrypted_file', 'The book is protected by DRM')
  }
  const show = createShowEntry(see, zip)
  const text = createBoundedText()
  for (const path of await chapterPaths(zip)) {
    const { body } = parsePage(asHtml(await zip.readText(path)))
    const showFromHere = (href: string) => show(posix.join(posix.dirname(path), decodePath(href)))
    const chapter = body ? await elementToMarkdown(body, showFromHere) : ''
    if (chapter !== '') text.add(`${chapter}\n\n`)
  }
  return { text: text.toString() }
}

/** Chapters are XHTML, in which an empty element may be self-closing; the XML declaration would be taken for text. */
function asHtml(xhtml: string): string {
  return xhtml
    .replace(/^\uFEFF?\s*<\?xml[^>]*>/, '')
    .replaceAll(/<(title|script|style|a|p|div|span|i|b|em|td|th)(\s[^<>]*)?\/>/gi, '<$1$2></$1>')
}

async function chapterPaths(zip: ZipArchive): Promise<string[]> {
  const book = await bookPath(zip)
  const folder = posix.dirname(book)
  const items = new Map<string, string>()
  const paths: string[] = []
  readXml(await zip.readText(book), {
    open(qualified, { id, href, idref }) {
      const name = qualified.replace(/^.*:/, '')
      if (name === 'item' && id !== undefined && href !== undefined) items.set(id, href)
      const chapter = name === 'itemref' && items.get(idref ?? '')
      if (!chapter) return
      const path = posix.join(folder, decodePath(chapter))
      if (zip.has(path)) paths.push(path)
    },
  })
  return paths
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
