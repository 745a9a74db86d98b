import mammoth from 'mammoth'
import type { Extracted } from '../extracted.ts'
import { htmlToMarkdown } from './html.ts'

/** Pictures would be written into the text, as long as they are. */
const WITHOUT_PICTURES = {
  convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
  externalFileAccess: false,
}

export async function extractDocx(bytes: Buffer): Promise<Extracted> {
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, WITHOUT_PICTURES)
  return { text: htmlToMarkdown(value) }
}
