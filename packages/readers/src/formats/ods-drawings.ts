import { openZip, ZIP_MARK } from '../zip-archive.ts'
import { readOdfStyles } from './opendocument-styles.ts'
import { readXml, unescapeXml } from './xml.ts'

const CONTENT = 'content.xml'
const STYLES = 'styles.xml'

/**
 * An OpenDocument spreadsheet as the library can read it: without drawings, whose text it would take for that of a cell;
 * with marks around superscripts and subscripts; with formulas as the text of cells without a value; and with the part
 * for styles, which it demands. Any other file as it is.
 */
export async function withoutDrawings(bytes: Buffer): Promise<Buffer> {
  if (!bytes.subarray(0, ZIP_MARK.length).equals(ZIP_MARK)) return bytes
  const zip = await openZip(bytes)
  if (!zip.has(CONTENT)) return bytes
  const content = await zip.readText(CONTENT)
  const cells = cellsOnly(content.replaceAll(UNCALCULATED, withFormula))
  if (cells === content && zip.has(STYLES)) return bytes
  const { CFB } = await import('@e965/xlsx')
  const archive = CFB.read(bytes, { type: 'buffer' })
  CFB.utils.cfb_add(archive, `/${CONTENT}`, Buffer.from(cells))
  if (!zip.has(STYLES)) CFB.utils.cfb_add(archive, `/${STYLES}`, Buffer.from(NO_STYLES))
  return Buffer.from(CFB.write(archive, { type: 'buffer', fileType: 'zip' }))
}

/** Cells with a formula and without a value. */
const UNCALCULATED =
  /<table:table-cell\s(?![^<>]*office:value-type)[^<>]*table:formula="([^"<>]*)"[^<>]*\/>/g

/** Such a cell with its formula as its text: `of:=[.A1]*2` is `=A1*2`. */
function withFormula(tag: string, formula: string): string {
  const typed = formula
    .replace(/^\w+:/, '')
    .replaceAll(/\[([^\]]*)\]/g, (_, places: string) => places.replaceAll(/(^|:)\./g, '$1'))
  return `${tag.slice(0, -2)} office:value-type="string"><text:p>${typed}</text:p></table:table-cell>`
}

/** The names of the sheets with such cells. */
export function uncalculatedSheets(content: string): Set<string> {
  const names = new Set<string>()
  for (const sheet of content.split(/(?=<table:table\s)/).slice(1)) {
    const [, name = ''] = /^<[^<>]*table:name="([^"<>]*)"/.exec(sheet) ?? []
    if (sheet.search(UNCALCULATED) >= 0) names.add(unescapeXml(name))
  }
  return names
}

/** The library demands this part, which is optional. */
const NO_STYLES = '<office:document-styles/>'

/** Without the outermost elements that draw something, and with marks around what is above or below the line. */
function cellsOnly(content: string): string {
  const hasScripts = content.includes('style:text-position')
  if (!content.includes('<draw:') && !hasScripts) return content
  const styles = readOdfStyles(hasScripts ? [content] : [])
  const pieces: string[] = []
  /** The ends of the marks of the spans that are open. */
  const ends: string[] = []
  let from = 0
  let depth = 0
  const insert = (at: number, sign: string) => {
    pieces.push(content.slice(from, at), sign)
    from = at
  }
  readXml(content, {
    open(name, attributes, start, tagEnd) {
      if (name.startsWith('draw:') && depth++ === 0) pieces.push(content.slice(from, start))
      if (name !== 'text:span' || depth > 0) return
      const [begin = '', end = ''] = [...(styles.markOf(attributes['text:style-name'])?.('') ?? '')]
      ends.push(end)
      if (begin !== '') insert(tagEnd, begin)
    },
    close(name, start, closeEnd) {
      if (name.startsWith('draw:') && --depth === 0) from = closeEnd
      if (name !== 'text:span' || depth > 0) return
      const end = ends.pop() ?? ''
      if (end !== '') insert(start, end)
    },
  })
  return pieces.join('') + content.slice(from)
}
