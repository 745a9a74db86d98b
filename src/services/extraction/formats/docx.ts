import mammoth from 'mammoth'
import type { Extracted } from '../extracted.ts'
import { htmlToMarkdown } from './html.ts'
import type { SeePicture } from './image.ts'

/** What is read in its pictures by `see` stands where they do. */
export async function extractDocx(bytes: Buffer, see: SeePicture): Promise<Extracted> {
  let pictures = 0
  const convertImage = mammoth.images.imgElement(async (image) => {
    const text = await see(Buffer.from(await image.readAsBuffer()), `picture ${++pictures}`)
    // The picture itself would be written into the text, as long as it is.
    return { src: '', ...(text !== '' && { alt: `\n\n${text}\n\n` }) }
  })
  const options = { convertImage, externalFileAccess: false }
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, options)
  return { text: htmlToMarkdown(value) }
}
