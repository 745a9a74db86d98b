import mammoth from 'mammoth'
import { createBoundedText, type Extracted } from '../extracted.ts'
import { type ReadWithin, textWithin } from '../within.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { chartsOf } from './chart.ts'
import { furnitureOf } from './docx-furniture.ts'
import { readComments, simplifyWord, type WordContext } from './docx-markup.ts'
import { createWordNumbering, readStyles } from './docx-styles.ts'
import { htmlToMarkdown } from './html.ts'
import type { SeePicture } from './image.ts'
import { pathsOf } from './ooxml.ts'
import { embeddedIn } from './ooxml-embedded.ts'
import { smartArtOf } from './smart-art.ts'
import { escapeXml } from './xml.ts'

const MAX_CHUNKS = 100
/** What relationships are called in the strict form of the standard, which mammoth does not know. */
const STRICT = 'http://purl.oclc.org/ooxml/officeDocument/relationships'
const USUAL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
/** Stands for a file that is part of the text until that is Markdown. */
const CHUNK = /\ufddb(\d+)\ufddc/g

/**
 * What `see` says for images is placed where the images are; comments are placed where they belong; page headers and
 * footers, each once, and the files in it follow.
 */
export async function extractDocx(
  zip: ZipArchive,
  main: string,
  see: SeePicture,
  read: ReadWithin,
): Promise<Extracted> {
  const pictures: string[] = []
  const convertImage = mammoth.images.imgElement(async (image) => {
    const index = pictures.push('') - 1
    const open = async () => Buffer.from(await image.readAsBuffer())
    pictures[index] = await see(open, { number: index + 1 })
    // Without this, the image itself would be embedded in the text as a data URL.
    return { src: `${index}` }
  })
  const chunks = await chunksOf(zip, main, read)
  // Mammoth's types lack the archive that it would make of a path.
  const input = { path: '', file: await simplified(zip, main, chunks) }
  const { value } = await mammoth.convertToHtml(input, { convertImage, externalFileAccess: false })
  const markdown = await htmlToMarkdown(value, async (index) => pictures[Number(index)] ?? '')
  const texts = [...chunks.values()]
  const text = createBoundedText()
  text.add(markdown.replaceAll(CHUNK, (_, index: string) => texts[Number(index)] ?? ''))
  for (const line of await furnitureOf(zip, main))
    text.add(`${text.length > 0 ? '\n\n' : ''}${line}`)
  // Their numbers go on, so that no two pictures have one mark.
  const readNext: ReadWithin = (file, number) => read(file, chunks.size + number)
  text.add(await embeddedIn(zip, [main], readNext))
  return { text: text.toString() }
}

/** The archive as mammoth reads it, with its texts rewritten. */
async function simplified(zip: ZipArchive, main: string, chunks: ReadonlyMap<string, string>) {
  const partOf = async (kind: string) => {
    const [path] = (await pathsOf(zip, main, kind)).values()
    const usual = `word/${kind}.xml`
    return path ?? (zip.has(usual) ? usual : undefined)
  }
  const readPart = async (kind: string) => {
    const path = await partOf(kind)
    return path === undefined ? '' : zip.readText(path)
  }
  const styles = readStyles(await readPart('styles'))
  const context: WordContext = {
    comments: readComments(await readPart('comments')),
    styles,
    number: createWordNumbering(await readPart('numbering'), styles),
  }
  const texts = new Set([main, await partOf('footnotes'), await partOf('endnotes')])
  const marks = new Map([...chunks.keys()].map((id, index) => [id, `\ufddb${index}\ufddc`]))
  const readText = async (name: string) => {
    const text = withoutDeclarations(await zip.readText(name))
    if (name.endsWith('.rels')) return text.replaceAll(STRICT, USUAL)
    if (!texts.has(name)) return text
    const charts = await chartsOf(zip, name)
    const smartArt = await smartArtOf(zip, name)
    return simplifyWord(text, context, { charts, smartArt, chunks: marks })
  }
  return {
    exists: zip.has,
    read: (name: string, encoding?: string) => (encoding ? readText(name) : zip.readBytes(name)),
  }
}

/**
 * Without comments and the like, of which one without an end takes the parser of mammoth time in the square of its
 * length; what follows such a one is left out.
 */
function withoutDeclarations(xml: string): string {
  if (!xml.includes('<!')) return xml
  const parts: string[] = []
  let position = 0
  for (let at = xml.indexOf('<!'); at >= 0; at = xml.indexOf('<!', position)) {
    parts.push(xml.slice(position, at))
    const isText = xml.startsWith('<![CDATA[', at)
    const sign = isText ? ']]>' : xml.startsWith('<!--', at) ? '-->' : '>'
    const end = xml.indexOf(sign, at)
    if (end < 0) return parts.join('')
    if (isText) parts.push(escapeXml(xml.slice(at + '<![CDATA['.length, end)))
    position = end + sign.length
  }
  return parts.join('') + xml.slice(position)
}

/** The texts of the files that are part of the text, by relationship ID. */
async function chunksOf(
  zip: ZipArchive,
  main: string,
  read: ReadWithin,
): Promise<Map<string, string>> {
  const chunks = new Map<string, string>()
  const paths = await pathsOf(zip, main, 'aFChunk')
  for (const [id, path] of [...paths].slice(0, MAX_CHUNKS)) {
    const file = { name: path, mediaType: '', bytes: await zip.readBytes(path) }
    chunks.set(id, (await textWithin(file, chunks.size + 1, read)).trim())
  }
  return chunks
}
