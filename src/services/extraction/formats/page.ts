import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { ExtractionError } from '../extraction-error.ts'

/** Pages reach a hundred. What is done with a tree takes time and stack by its depth. */
const DEEPEST = 1_000

/** As much of an element as is asked for here: the server itself has no DOM. */
export interface PageElement {
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

/** Also of HTML without the elements around its content. Throws `file_too_complex` where elements nest too deeply. */
export function parsePage(html: string): Page {
  refuseDepth(html)
  return parseHTML(asDocument(html)).document
}

/** The parser adds nothing of what browsers add: it would take the first element for the whole. */
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
  const parser = new Parser({
    onopentagname() {
      depth++
      if (depth > DEEPEST) throw tooDeep()
    },
    onclosetag() {
      depth--
    },
  })
  parser.end(html)
}

function tooDeep(): ExtractionError {
  return new ExtractionError('file_too_complex', 'The page is nested too deeply')
}
