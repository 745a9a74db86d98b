import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { ExtractionError } from '../extracted.ts'

/** Real pages nest up to a hundred levels. The time and the stack needed for a tree grow with its depth. */
const MAX_DEPTH = 1_000

/** The part of the DOM that is used here: the server's type declarations have no DOM. */
export interface PageElement {
  readonly nodeName: string
  readonly ownerDocument: { createElement(name: string): PageElement }
  readonly parentElement: PageElement | null
  readonly previousElementSibling: PageElement | null
  textContent: string | null
  readonly children: Iterable<PageElement> & { readonly length: number }
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  closest(selectors: string): PageElement | null
  querySelector(selectors: string): PageElement | null
  querySelectorAll(selectors: string): Iterable<PageElement>
  cloneNode(deep: boolean): PageElement
  remove(): void
  before(...nodes: (PageElement | string)[]): void
  after(...nodes: (PageElement | string)[]): void
  append(...nodes: (PageElement | string)[]): void
  prepend(...nodes: (PageElement | string)[]): void
  replaceWith(...nodes: (PageElement | string)[]): void
}

export interface Page {
  readonly body: PageElement | null
  readonly title: string
  querySelectorAll(selectors: string): Iterable<PageElement>
}

/** Also parses HTML without the elements `html` and `body`. Throws `file_too_complex` if elements nest too deeply. */
export function parsePage(html: string): Page {
  refuseDepth(html)
  return parseHTML(asDocument(html)).document
}

/**
 * Adds the elements that browsers add but this parser does not: it would take the first element for the root. As in
 * browsers, what follows the end of the body is in it, too, such as another whole page.
 */
function asDocument(html: string): string {
  const body = /<body(?:\s[^<>]*)?>/i.exec(html) ?? { 0: '', index: 0 }
  const head = withoutFrame(html.slice(0, body.index))
  const content = withoutFrame(html.slice(body.index + body[0].length))
  return `<html><head>${head}</head>${body[0] || '<body>'}${content}</body></html>`
}

function withoutFrame(html: string): string {
  return html.replaceAll(/<(?:!doctype|\/?html|\/?head|\/?body)(?:\s[^<>]*)?>/gi, '')
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
