import { posix } from 'node:path'
import { type Extracted, passwordProtected } from '../extracted.ts'
import { label } from '../marks.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { htmlToMarkdown } from './html.ts'
import { createShowEntry, type SeePicture } from './image.ts'
import { uncalculatedSheets } from './ods-drawings.ts'
import { controlsIn } from './opendocument-controls.ts'
import { createOdfNumbers } from './opendocument-lists.ts'
import { type OdfStyles, readOdfStyles } from './opendocument-styles.ts'
import { partsOfOds } from './sheet-parts.ts'
import { extractWorkbook } from './xlsx.ts'
import { escapeXml, readXml } from './xml.ts'

// OpenDocument 1.3: https://docs.oasis-open.org/office/OpenDocument/v1.3/.

const CONTENT = 'content.xml'
const STYLES = 'styles.xml'
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
  const styles = readOdfStyles([zip.has(STYLES) ? await zip.readText(STYLES) : '', content])
  if (kind.startsWith(SPREADSHEET)) {
    const formulas = new Map(Array.from(uncalculatedSheets(content), (name) => [name, []]))
    return extractWorkbook(bytes, partsOfOds(content, styles.furniture()), show, formulas)
  }
  const objects = await objectsIn(zip, content)
  const text = await htmlToMarkdown(toHtml(content, styles, objects), show)
  return { text: [text, ...styles.furniture()].filter(Boolean).join('\n\n') }
}

/** Elements that are the same in HTML. */
const SAME: Record<string, string> = {
  'text:p': 'p',
  'text:list': 'ul',
  'text:list-item': 'li',
  'table:table': 'table',
  'table:table-row': 'tr',
  'table:table-cell': 'td',
  'table:table-header-rows': 'thead',
  'text:ruby': 'ruby',
  'text:ruby-text': 'rt',
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
/** What may be hidden, by its style or by itself. */
const HIDEABLE = new Set(['text:section', 'text:p', 'text:h', 'text:span'])
const isNone = (attributes: Record<string, string>) => attributes['text:display'] === 'none'

const OBJECT = /<draw:object\s[^<>]*?xlink:href="(?:\.\/)?([^"<>]+)"/g
const MAX_OBJECTS = 100
const NO_OBJECTS: ReadonlyMap<string, string> = new Map()

/**
 * The objects within a text as HTML, by their paths: sheets, charts with their values, and formulas. Those within them
 * are left out: their names are relative to another folder, and they may name each other.
 */
async function objectsIn(zip: ZipArchive, content: string): Promise<Map<string, string>> {
  const paths = new Set(Array.from(content.matchAll(OBJECT), ([, path = '']) => path))
  const objects = new Map<string, string>()
  for (const path of [...paths].slice(0, MAX_OBJECTS)) {
    const part = posix.join(path, CONTENT)
    if (!zip.has(part)) continue
    const xml = await zip.readText(part)
    const [, formula] = /<annotation[^<>]*>([^<]*)<\/annotation>/.exec(xml) ?? []
    objects.set(path, formula ?? toHtml(xml, readOdfStyles([xml]), NO_OBJECTS))
  }
  return objects
}

/** The body as HTML, with each of the objects at its first place. */
function toHtml(xml: string, styles: OdfStyles, objects: ReadonlyMap<string, string>): string {
  const body = xml.slice(Math.max(xml.indexOf('<office:body'), 0))
  const controls = controlsIn(body)
  const numbers = createOdfNumbers(styles)
  /** The marks of the spans that are open. */
  const marks: string[] = []
  const parts: string[] = []
  /** Whether each of the elements that are open and may be hidden is so. */
  const hidden: boolean[] = []
  let omitted = 0
  let asides = 0
  let heading = 'h1'
  const add = (part: string) => {
    if (omitted === 0 && part !== '') parts.push(part)
  }
  /** Within a sentence there are no blocks. */
  const addBlock = (part: string) => {
    if (asides === 0) add(part)
  }
  const left = new Map(objects)
  const addObject = (path: string) => {
    if (omitted > 0) return
    add(left.get(path) ?? '')
    left.delete(path)
  }
  const openSpan = (style: string | undefined) => {
    const [begin = '', end = ''] = [...(styles.markOf(style)?.('') ?? '')]
    marks.push(end)
    add(begin)
  }
  const numbered = (name: string, attributes: Record<string, string>): string => {
    if (omitted + asides > 0) return ''
    if (name === 'text:list') numbers.openList(attributes)
    if (name === 'text:list-item') numbers.openItem(attributes)
    if (name === 'text:p') return numbers.ofParagraph(attributes['text:style-name'])
    return name === 'text:h' ? numbers.ofHeading(Number(heading.slice(1)) - 1) : ''
  }
  const openBlock = (name: string, attributes: Record<string, string>) => {
    const tag = name === 'text:h' ? heading : SAME[name]
    addBlock(tag ? `<${tag}${spansOf(attributes)}>` : (BEGINNINGS[name]?.(attributes) ?? ''))
  }
  const begin = (name: string, attributes: Record<string, string>) => {
    const text = numbered(name, attributes)
    openBlock(name, attributes)
    add(escapeXml(label(text)))
    if (name === 'text:span') openSpan(attributes['text:style-name'])
    if (name === 'draw:object') addObject(objectPath(attributes))
    if (name === 'draw:control') add(controls.get(attributes['draw:control'] ?? '') ?? '')
    if (BLANKS.has(name)) add(' ')
  }
  const end = (name: string) => {
    const tag = name === 'text:h' ? heading : SAME[name]
    if (tag) addBlock(`</${tag}>`)
    if (name === 'text:span') add(marks.pop() ?? '')
    if (name === 'text:list' && omitted + asides === 0) numbers.closeList()
  }
  readXml(body, {
    open(name, attributes) {
      if (OMITTED.has(name)) omitted += 1
      if (HIDEABLE.has(name)) {
        const isHidden = styles.isHidden(attributes['text:style-name']) || isNone(attributes)
        hidden.push(isHidden)
        if (isHidden) omitted += 1
      }
      if (name === 'text:h') heading = headingOf(attributes)
      if (ASIDES.has(name)) {
        add(' (')
        asides += 1
      }
      begin(name, attributes)
    },
    close(name) {
      end(name)
      if (ASIDES.has(name)) {
        asides -= 1
        add(')')
      }
      if (OMITTED.has(name)) omitted -= 1
      if (HIDEABLE.has(name) && hidden.pop()) omitted -= 1
    },
    text: (text) => add(escapeXml(text)),
  })
  return parts.join('')
}

/** How many columns and rows a cell spans, as HTML says it; a repeated one, which is mostly empty, as one. */
function spansOf(attributes: Record<string, string>): string {
  const columns =
    Number(
      attributes['table:number-columns-spanned'] ?? attributes['table:number-columns-repeated'],
    ) || 1
  const rows = Number(attributes['table:number-rows-spanned']) || 1
  return `${columns > 1 ? ` colspan="${columns}"` : ''}${rows > 1 ? ` rowspan="${rows}"` : ''}`
}

/** HTML in place of the start of an element. */
const BEGINNINGS: Record<string, (attributes: Record<string, string>) => string> = {
  'draw:image': (attributes) => `<img src="${escapeXml(attributes['xlink:href'] ?? '')}">`,
  'draw:page': (attributes) => `<h2>${escapeXml(attributes['draw:name'] ?? '')}</h2>`,
  'presentation:notes': () => '<h3>Notes</h3>',
  'text:line-break': () => '<br>',
}
const objectPath = (attributes: Record<string, string>) =>
  (attributes['xlink:href'] ?? '').replace(/^\.\//, '')

const BLANKS = new Set(['text:tab', 'text:s'])
const MAX_LEVEL = 6

function headingOf(attributes: Record<string, string>): string {
  const level = Math.round(Number(attributes['text:outline-level'])) || 1
  return `h${Math.min(Math.max(level, 1), MAX_LEVEL)}`
}
