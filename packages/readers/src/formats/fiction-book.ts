import type { Extracted } from '../extracted.ts'
import { htmlToMarkdown } from './html.ts'
import { createShowPicture, type SeePicture } from './image.ts'
import { escapeXml, localName, readXml } from './xml.ts'

/** Elements of FictionBook that are the same in HTML, or nearly. */
const SAME: Record<string, string> = {
  'book-title': 'h1',
  author: 'p',
  p: 'p',
  v: 'p',
  'text-author': 'p',
  subtitle: 'h6',
  cite: 'blockquote',
  epigraph: 'blockquote',
  table: 'table',
  tr: 'tr',
  td: 'td',
  th: 'th',
  sup: 'sup',
  sub: 'sub',
  strong: 'b',
  emphasis: 'i',
  code: 'code',
}
/** The description of a book, of which title, authors and annotation are read. */
const UNSHOWN = new Set(
  'genre lang src-lang coverpage id document-info publish-info custom-info src-title-info binary stylesheet keywords date nickname email home-page'.split(
    ' ',
  ),
)
const MAX_LEVEL = 6
const MAX_PICTURES = 1_000

/** The chapters of a book, with what `see` says for its images where these are. */
export async function extractFictionBook(xml: string, see: SeePicture): Promise<Extracted> {
  const { html, pictures } = toHtml(xml)
  const show = createShowPicture(see, (source) => {
    const data = pictures.get(source.slice(1))
    return data === undefined ? undefined : () => Buffer.from(data.join(''), 'base64')
  })
  return { text: await htmlToMarkdown(html, show) }
}

function toHtml(xml: string) {
  const parts: string[] = []
  const pictures = new Map<string, string[]>()
  let picture: string[] | undefined
  let level = 1
  let unshown = 0
  let titles = 0
  const add = (part: string) => {
    if (unshown === 0) parts.push(part)
  }
  const tagsOf = (name: string, attributes = {}): [string, string] => {
    const tag = name === 'title' ? `h${Math.min(level, MAX_LEVEL)}` : SAME[name]
    // The paragraphs of a title are lines.
    if (tag === undefined || (titles > 0 && name === 'p'))
      return ['', BLANK_AFTER.has(name) ? ' ' : '']
    return [`<${tag}${spansIn(attributes)}>`, `</${tag}>`]
  }
  const beginnings: Record<string, (attributes: Record<string, string>) => void> = {
    section: () => level++,
    title: () => titles++,
    image: (attributes) => add(`<img src="${escapeXml(hrefIn(attributes))}">`),
    a: (attributes) => add(`<a href="${escapeXml(hrefIn(attributes))}">`),
    binary({ id = '' }) {
      picture = pictures.size < MAX_PICTURES ? [] : undefined
      if (picture) pictures.set(id, picture)
    },
  }
  const ends: Record<string, () => void> = {
    section: () => level--,
    title: () => titles--,
    a: () => add('</a>'),
    binary: () => (picture = undefined),
  }
  readXml(xml, {
    open(qualified, attributes) {
      const name = localName(qualified)
      if (UNSHOWN.has(name)) unshown++
      add(tagsOf(name, attributes)[0])
      beginnings[name]?.(attributes)
    },
    text(data) {
      if (picture) picture.push(data)
      else add(escapeXml(data))
    },
    close(qualified) {
      const name = localName(qualified)
      ends[name]?.()
      add(tagsOf(name)[1])
      if (UNSHOWN.has(name)) unshown--
    },
  })
  return { html: parts.join(''), pictures }
}

/** How many rows and columns a cell spans, as HTML says it. */
const spansIn = (attributes: Record<string, string>) =>
  ['rowspan', 'colspan']
    .map((name) =>
      /^\d{1,4}$/.test(attributes[name] ?? '') ? ` ${name}="${attributes[name]}"` : '',
    )
    .join('')

const BLANK_AFTER = new Set(['p', 'first-name', 'middle-name', 'last-name'])

const hrefIn = (attributes: Record<string, string>) =>
  Object.entries(attributes).find(([name]) => localName(name) === 'href')?.[1] ?? ''
