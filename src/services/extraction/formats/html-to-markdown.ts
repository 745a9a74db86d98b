import TurndownService from 'turndown'
import { createBoundedText } from '../bounded-text.ts'
import { addTableRules } from './html-tables.ts'
import { type PageElement, parsePage } from './page.ts'

const LEFT_OUT = [
  'title',
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'svg',
  'canvas',
]

const service = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
})
service.remove((node) => LEFT_OUT.includes(node.nodeName.toLowerCase()))
// Where a link or a picture leads is nothing that anybody searches for.
service.addRule('link', { filter: 'a', replacement: (content) => content })
service.addRule('picture', {
  filter: 'img',
  replacement: (_, node: PageElement) => node.getAttribute('alt') ?? '',
})
addTableRules(service)
// For reading, not for rendering: an escaped word would not be found.
service.escape = (text) => text

/** A fragment of HTML as Markdown. */
export function htmlToMarkdown(html: string): string {
  const { body } = parsePage(`<!doctype html><html><body>${html}</body></html>`)
  return body ? elementToMarkdown(body) : ''
}

export function elementToMarkdown(element: PageElement): string {
  const text = createBoundedText()
  text.add(service.turndown(element))
  return text.toString()
}
