import { openZip, ZIP_MARK } from '../zip-archive.ts'
import { readXml } from './xml.ts'

const CONTENT = 'content.xml'
const STYLES = 'styles.xml'

/**
 * An OpenDocument spreadsheet without what is drawn on it, which is read separately: the library takes the text of a frame
 * in a cell for that of the cell, and demands a part that is optional. Any other file as it is.
 */
export async function withoutDrawings(bytes: Buffer): Promise<Buffer> {
  if (!bytes.subarray(0, ZIP_MARK.length).equals(ZIP_MARK)) return bytes
  const zip = await openZip(bytes)
  if (!zip.has(CONTENT)) return bytes
  const content = await zip.readText(CONTENT)
  const kept = cellsOnly(content)
  if (kept.length === content.length && zip.has(STYLES)) return bytes
  const { CFB } = await import('@e965/xlsx')
  const archive = CFB.read(bytes, { type: 'buffer' })
  CFB.utils.cfb_add(archive, `/${CONTENT}`, Buffer.from(kept))
  if (!zip.has(STYLES)) CFB.utils.cfb_add(archive, `/${STYLES}`, Buffer.from(NO_STYLES))
  return Buffer.from(CFB.write(archive, { type: 'buffer', fileType: 'zip' }))
}

/** The library demands this part, which is optional. */
const NO_STYLES = '<office:document-styles/>'

/** Without the outermost elements that draw something. */
function cellsOnly(content: string): string {
  if (!content.includes('<draw:')) return content
  const kept: string[] = []
  let end = 0
  let depth = 0
  readXml(content, {
    open(name, _attributes, start) {
      if (!name.startsWith('draw:')) return
      if (depth++ === 0) kept.push(content.slice(end, start))
    },
    close(name, _start, closeEnd) {
      if (!name.startsWith('draw:')) return
      if (--depth === 0) end = closeEnd
    },
  })
  return kept.join('') + content.slice(end)
}
