import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { createBoundedText, type Extracted, ExtractionError, oneLine } from '../extracted.ts'
import type { ShowPicture } from './image.ts'

/** Share of the page's text that `main` must have; otherwise the whole page is used. */
const MIN_SHARE = 0.5
/** Navigation has at least this share of its text in links. */
const LINKED_SHARE = 0.5

/** The whole text of a page but for what is hidden and its navigation, under the page's title. */
export async function extractHtml(html: string, show: ShowPicture = showNone): Promise<Extracted> {
  const { body, title } = parsePage(html)
  const heading = oneLine(title)
  const text = body ? await elementToMarkdown(contentOf(body), show) : ''
  return { text: heading === '' || text.startsWith('# ') ? text : `# ${heading}\n\n${text}` }
}

/** The element with the content, without what no visitor of the page would read. */
function contentOf(body: PageElement): PageElement {
  keepLabels(body)
  for (const element of body.querySelectorAll(OMITTED.join())) element.remove()
  for (const element of body.querySelectorAll('[style], [hidden]')) {
    if (isHidden(element)) element.remove()
  }
  for (const element of body.querySelectorAll('nav, [role=navigation]')) {
    if (isListOfLinks(element)) element.remove()
  }
  const [main, ...more] = body.querySelectorAll('main, [role=main]')
  if (!main || more.length > 0) return body
  return lettersIn(main) >= lettersIn(body) * MIN_SHARE ? main : body
}

/** Of each diagram, its labels. */
function keepLabels(element: PageElement): void {
  for (const drawing of element.querySelectorAll('svg')) drawing.replaceWith(wordsIn(drawing))
}

/** The labels of a diagram. An icon has none, only a title. */
function wordsIn(drawing: PageElement): string {
  const labels = Array.from(drawing.querySelectorAll('text'), ({ textContent }) => textContent)
  return labels.length === 0 ? '' : ` ${labels.join(' ')} `
}

function isHidden(element: PageElement): boolean {
  if (/display\s*:\s*none|visibility\s*:\s*hidden/i.test(element.getAttribute('style') ?? ''))
    return true
  const hidden = element.getAttribute('hidden')
  // `until-found`: a search within the page shows it.
  return hidden !== null && hidden !== 'until-found'
}

/** Some manuals have their text in what they call navigation, or never close it. */
function isListOfLinks(element: PageElement): boolean {
  let letters = 0
  for (const link of element.querySelectorAll('a')) letters += lettersIn(link)
  return letters >= lettersIn(element) * LINKED_SHARE
}

function lettersIn({ textContent }: PageElement): number {
  return (textContent ?? '').replaceAll(/\s+/g, '').length
}

/** Converts tables to Markdown, with the first row as the head; tables used only for layout are dissolved. */
function addTableRules(service: TurndownService): void {
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node: PageElement) =>
      shapeOf(node).isArrangement
        ? `\n\n${content}\n\n`
        : ` ${oneLine(content.replaceAll('|', '/'))} |`,
  })
  service.addRule('row', {
    filter: 'tr',
    replacement(content, node: PageElement) {
      const { isArrangement, head } = shapeOf(node)
      if (isArrangement) return content
      return `\n|${content}${head === node ? `\n|${' --- |'.repeat(node.children.length)}` : ''}`
    },
  })
  service.addRule('rows', {
    filter: ['thead', 'tbody', 'tfoot'],
    replacement: (content) => content,
  })
  service.addRule('table', {
    filter: 'table',
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  })
}

interface TableShape {
  /** Whether the table is only used for layout, as in mails and old pages. */
  isArrangement: boolean
  head: PageElement | undefined
}

/** Cached per table, so that it is not determined again for each cell. */
const shapes = new WeakMap<PageElement, TableShape>()

/** The shape of the table that a row or cell belongs to. */
function shapeOf(node: PageElement): TableShape {
  const table = node.closest('table')
  if (!table) return { isArrangement: true, head: undefined }
  const cached = shapes.get(table)
  if (cached) return cached
  const rows = Array.from(table.querySelectorAll('tr'))
  const isPlain = rows.every(({ children }) => children.length < 2)
  const shape = { isArrangement: isPlain || table.querySelector('table') !== null, head: rows[0] }
  shapes.set(table, shape)
  return shape
}

const OMITTED = 'title script style noscript template iframe object svg canvas'.split(' ')

/** Behind a heading, to copy its address. */
const PERMALINK = /^\s*[¶§#]\s*$/

const service = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
})
service.remove((node) => OMITTED.includes(node.nodeName.toLowerCase()))
// Nobody searches for the target of a link or the source of an image.
service.addRule('link', {
  filter: 'a',
  replacement: (content, node: PageElement) =>
    PERMALINK.test(node.textContent ?? '') ? '' : content,
})
service.addRule('picture', {
  filter: 'img',
  replacement: (_, node: PageElement) => node.getAttribute('alt') ?? '',
})
addTableRules(service)
// The text is read, not rendered: a word with escapes would not be found.
service.escape = (text) => text

/** Converts a fragment of HTML to Markdown. */
export async function htmlToMarkdown(html: string, show: ShowPicture = showNone): Promise<string> {
  const { body } = parsePage(`<!doctype html><html><body>${html}</body></html>`)
  return body ? elementToMarkdown(body, show) : ''
}

/** Converts an element to Markdown. Throws `text_too_long`. */
export async function elementToMarkdown(element: PageElement, show: ShowPicture): Promise<string> {
  const text = createBoundedText()
  await showPictures(element, show)
  keepLabels(element)
  text.add(service.turndown(element))
  return text.toString()
}

const showNone: ShowPicture = async () => ''

/** In their Markdown, no paragraph can stand on its own. */
const WITHIN = 'table, ol, ul > li, blockquote, pre, svg'

/** Places what is shown of each image after it, as paragraphs. */
async function showPictures(element: PageElement, show: ShowPicture): Promise<void> {
  const texts: [PageElement, string][] = []
  for (const image of [...element.querySelectorAll('img, image')]) {
    const source = ['src', 'xlink:href', 'href'].map((name) => image.getAttribute(name))
    const text = await show(source.find((one) => one !== null) ?? '')
    if (text !== '') texts.push([blockOf(image), text])
  }
  for (const [block, text] of texts.toReversed()) {
    const paragraphs = element.ownerDocument.createElement('img')
    paragraphs.setAttribute('alt', `\n\n${text}\n\n`)
    block.after(paragraphs)
  }
}

function blockOf(image: PageElement): PageElement {
  let block = image
  let above = image.closest(WITHIN)
  while (above) {
    if (above.nodeName !== 'TABLE' || !shapeOf(above).isArrangement) block = above
    above = above.parentElement?.closest(WITHIN) ?? null
  }
  return block
}

/** Real pages nest up to a hundred levels. The time and the stack needed for a tree grow with its depth. */
const MAX_DEPTH = 1_000

/** The part of the DOM that is used here: the server's type declarations have no DOM. */
interface PageElement {
  readonly nodeName: string
  readonly ownerDocument: { createElement(name: string): PageElement }
  readonly parentElement: PageElement | null
  readonly textContent: string | null
  readonly children: { readonly length: number }
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  closest(selectors: string): PageElement | null
  querySelector(selectors: string): PageElement | null
  querySelectorAll(selectors: string): Iterable<PageElement>
  remove(): void
  after(element: PageElement): void
  replaceWith(text: string): void
}

export interface Page {
  readonly body: PageElement | null
  readonly title: string
}

/** Also parses HTML without the elements `html` and `body`. Throws `file_too_complex` if elements nest too deeply. */
export function parsePage(html: string): Page {
  refuseDepth(html)
  return parseHTML(asDocument(html)).document
}

/** Adds the elements that browsers add but this parser does not: it would take the first element for the root. */
function asDocument(html: string): string {
  const body = html.search(/<body[\s>]/i)
  if (body < 0) return `<html><head></head><body>${withoutFrame(html)}</body></html>`
  return `<html><head>${withoutFrame(html.slice(0, body))}</head>${html.slice(body)}`
}

function withoutFrame(html: string): string {
  return html.replaceAll(/<(?:!doctype|\/?html|\/?head)(?:\s[^>]*)?>/gi, '')
}

function refuseDepth(html: string): void {
  let depth = 0
  const onopentagname = () => {
    depth++
    if (depth <= MAX_DEPTH) return
    throw new ExtractionError('file_too_complex', 'The page is nested too deeply')
  }
  new Parser({ onopentagname, onclosetag: () => void depth-- }).end(html)
}
