import { Readability } from '@mozilla/readability'
import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { createBoundedText, type Extracted, ExtractionError } from '../extracted.ts'

/** The detected main content must have at least this share of the page's text; otherwise the whole page is used. */
const MIN_SHARE = 0.25
/**
 * UTF-16 code units of a page up to which main content is searched for, which builds three trees, each fifty times the
 * size of the page. A longer page, such as a manual on one page, has hardly anything but main content.
 */
const MAX_SEARCHED = 2_000_000

/** The main content of a page, without navigation, under the page's title. */
export function extractHtml(html: string): Extracted {
  const page = parsePage(html)
  const title = page.querySelector('title')?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''
  const text = mainContent(html, page) ?? bodyOf(page)
  return { text: title === '' || text.startsWith('# ') ? text : `# ${title}\n\n${text}` }
}

function mainContent(html: string, { body }: Page): string | undefined {
  if (html.length > MAX_SEARCHED) return undefined
  const whole = lettersIn(body?.textContent ?? '')
  // Readability modifies the document, so it gets one of its own.
  const article = new Readability(parsePage(html)).parse()
  const isMain = article?.content && lettersIn(article.textContent ?? '') >= whole * MIN_SHARE
  return isMain ? htmlToMarkdown(article.content ?? '') : undefined
}

function bodyOf({ body }: Page): string {
  if (!body) return ''
  for (const element of body.querySelectorAll('nav, header nav, footer')) element.remove()
  return elementToMarkdown(body)
}

function lettersIn(text: string): number {
  return text.replaceAll(/\s+/g, '').length
}

/** Converts tables to Markdown, with the first row as the head; tables used only for layout are dissolved. */
function addTableRules(service: TurndownService): void {
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node: PageElement) =>
      shapeOf(node).isArrangement ? `\n\n${content}\n\n` : `${oneLine(content)} |`,
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
  const known = shapes.get(table)
  if (known) return known
  const rows = Array.from(table.querySelectorAll('tr'))
  const isPlain = rows.every(({ children }) => children.length < 2)
  const shape = { isArrangement: isPlain || table.querySelector('table') !== null, head: rows[0] }
  shapes.set(table, shape)
  return shape
}

function oneLine(content: string): string {
  return ` ${content.replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim()}`
}

const LEFT_OUT = 'title script style noscript template iframe object svg canvas'.split(' ')

const service = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
})
service.remove((node) => LEFT_OUT.includes(node.nodeName.toLowerCase()))
// Nobody searches for the target of a link or the source of an image.
service.addRule('link', { filter: 'a', replacement: (content) => content })
service.addRule('picture', {
  filter: 'img',
  replacement: (_, node: PageElement) => node.getAttribute('alt') ?? '',
})
addTableRules(service)
// The text is read, not rendered: a word with escapes would not be found.
service.escape = (text) => text

/** Converts a fragment of HTML to Markdown. */
export function htmlToMarkdown(html: string): string {
  const { body } = parsePage(`<!doctype html><html><body>${html}</body></html>`)
  return body ? elementToMarkdown(body) : ''
}

/** Converts an element to Markdown. Throws `text_too_long`. */
export function elementToMarkdown(element: PageElement): string {
  const text = createBoundedText()
  text.add(service.turndown(element))
  return text.toString()
}

/** Real pages nest up to a hundred levels. The time and the stack needed for a tree grow with its depth. */
const MAX_DEPTH = 1_000

/** The part of the DOM that is used here: the server's type declarations have no DOM. */
interface PageElement {
  readonly textContent: string | null
  readonly children: { readonly length: number }
  getAttribute(name: string): string | null
  closest(selectors: string): PageElement | null
  querySelector(selectors: string): PageElement | null
  querySelectorAll(selectors: string): Iterable<PageElement>
  remove(): void
}

export interface Page {
  readonly body: PageElement | null
  querySelector(selectors: string): PageElement | null
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
