import mammoth from 'mammoth'
import type { Extracted } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { chartsOf } from './chart.ts'
import { readComments, simplifyWord } from './docx-markup.ts'
import { htmlToMarkdown } from './html.ts'
import type { SeePicture } from './image.ts'
import { smartArtOf } from './smart-art.ts'

const COMMENTS = 'word/comments.xml'
/** The parts with text. */
const TEXTS = /^word\/(?:document|footnotes|endnotes)\.xml$/

/** What `see` says for images is placed where the images are; comments are placed where they belong. */
export async function extractDocx(zip: ZipArchive, see: SeePicture): Promise<Extracted> {
  const pictures: string[] = []
  const convertImage = mammoth.images.imgElement(async (image) => {
    const index = pictures.push('') - 1
    const open = async () => Buffer.from(await image.readAsBuffer())
    pictures[index] = await see(open, { number: index + 1 })
    // Without this, the image itself would be embedded in the text as a data URL.
    return { src: `${index}` }
  })
  // Of its inputs, mammoth's types lack the archive that it would make of a path.
  const input = { path: '', file: await simplified(zip) }
  const { value } = await mammoth.convertToHtml(input, { convertImage, externalFileAccess: false })
  return { text: await htmlToMarkdown(value, async (index) => pictures[Number(index)] ?? '') }
}

/** The archive as mammoth reads it, with its texts rewritten. */
async function simplified(zip: ZipArchive) {
  const comments = readComments(zip.has(COMMENTS) ? await zip.readText(COMMENTS) : '')
  const readText = async (name: string) => {
    const text = await zip.readText(name)
    if (!TEXTS.test(name)) return text
    const charts = await chartsOf(zip, name)
    return simplifyWord(text, comments, { charts, smartArt: await smartArtOf(zip, name) })
  }
  return {
    exists: zip.has,
    read: (name: string, encoding?: string) => (encoding ? readText(name) : zip.readBytes(name)),
  }
}
