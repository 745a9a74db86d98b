import { parseHTML } from 'linkedom'

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
  readonly title: string
  readonly body: PageElement | null
}

export function parsePage(html: string): Page {
  return parseHTML(html).document
}
