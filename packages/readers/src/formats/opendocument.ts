import { type Extracted, passwordProtected } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { htmlToMarkdown } from './html.ts'
import { createShowEntry, type SeePicture } from './image.ts'
import { partsOfOds } from './sheet-parts.ts'
import { extractWorkbook } from './xlsx.ts'
import { escapeXml, readXml } from './xml.ts'

// OpenDocument 1.3: https://docs.oasis-open.org/office/OpenDocument/v1.3/.

const CONTENT = 'content.xml'
const MANIFEST = 'META-INF/manifest.xml'
const SPREADSHEET = 'application/vnd.oasis.opendocument.spreadsheet'

/** Text, presentations and drawings as Markdown; spreadsheets as tables. */
export async function extractOpenDocument(
  bytes: Buffer,
  zip: ZipArchive,
  see: SeePicture,
): Promise<Extracted> {
  const manifest = zip.has(MANIFEST) ? await zip.readText(MANIFEST) : ''
  if (manifest.includes(':encryption-data')) throw passwordProtected()
  const kind = zip.has('mimetype') ? await zip.readText('mimetype') : ''
  const content = await zip.readText(CONTENT)
  const show = createShowEntry(see, zip)
  if (kind.startsWith(SPREADSHEET)) return extractWorkbook(bytes, partsOfOds(content), show)
  return { text: await htmlToMarkdown(toHtml(content), show) }
}

/** Elements that are the same in HTML. */
const SAME: Record<string, string> = {
  'text:p': 'p',
  'text:list': 'ul',
  'text:list-item': 'li',
  'table:table': 'table',
  'table:table-row': 'tr',
  'table:table-cell': 'td',
}
/** Text of its own within a sentence, in brackets: comments and footnotes. */
const ASIDES = new Set(['office:annotation', 'text:note'])
/** Not text of the document: deleted text, forms, who wrote a comment, numbers of notes. */
const OMITTED = new Set([
  'text:tracked-changes',
  'office:forms',
  'dc:creator',
  'dc:date',
  'meta:date-string',
  'text:note-citation',
])

/** The body as HTML. */
function toHtml(xml: string): string {
  let html = ''
  let omitted = 0
  let asides = 0
  let heading = 'h1'
  const add = (part: string) => {
    if (omitted === 0) html += part
  }
  /** Within a sentence there are no blocks. */
  const addBlock = (part: string) => {
    if (asides === 0) add(part)
  }
  const tagOf = (name: string) => (name === 'text:h' ? heading : SAME[name])
  readXml(xml.slice(Math.max(xml.indexOf('<office:body'), 0)), {
    open(name, attributes) {
      if (OMITTED.has(name)) omitted += 1
      if (name === 'text:h') heading = headingOf(attributes)
      if (ASIDES.has(name)) {
        add(' (')
        asides += 1
      }
      const tag = tagOf(name)
      addBlock(tag ? `<${tag}>` : (BEGINNINGS[name]?.(attributes) ?? ''))
      if (BLANKS.has(name)) add(' ')
    },
    close(name) {
      const tag = tagOf(name)
      if (tag) addBlock(`</${tag}>`)
      if (ASIDES.has(name)) {
        asides -= 1
        add(')')
      }
      if (OMITTED.has(name)) omitted -= 1
    },
    text: (text) => add(escapeXml(text)),
  })
  return html
}

/** HTML in place of the start of an element. */
const BEGINNINGS: Record<string, (attributes: Record<string, string>) => string> = {
  'draw:image': (attributes) => `<img src="${escapeXml(attributes['xlink:href'] ?? '')}">`,
  'draw:page': (attributes) => `<h2>${escapeXml(attributes['draw:name'] ?? '')}</h2>`,
  'presentation:notes': () => '<h3>Notes</h3>',
  'text:line-break': () => '<br>',
}
const BLANKS = new Set(['text:tab', 'text:s'])
const MAX_LEVEL = 6

function headingOf(attributes: Record<string, string>): string {
  const level = Math.round(Number(attributes['text:outline-level'])) || 1
  return `h${Math.min(Math.max(level, 1), MAX_LEVEL)}`
}
