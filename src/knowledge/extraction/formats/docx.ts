import mammoth from 'mammoth'
import type { Extracted } from '../extracted.ts'
import { htmlToMarkdown } from './html.ts'
import type { SeePicture } from './image.ts'

/** Text that `see` recognises in images is placed where the images are. */
export async function extractDocx(bytes: Buffer, see: SeePicture): Promise<Extracted> {
  let pictures = 0
  const convertImage = mammoth.images.imgElement(async (image) => {
    const text = await see(Buffer.from(await image.readAsBuffer()), `picture ${++pictures}`)
    // Without this, the image itself would be embedded in the text as a data URL.
    return { src: '', ...(text !== '' && { alt: `\n\n${text}\n\n` }) }
  })
  const options = { convertImage, externalFileAccess: false }
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, options)
  return { text: htmlToMarkdown(value) }
}
