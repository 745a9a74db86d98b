import TurndownService from 'turndown'
import { createBoundedText, type Extracted, oneLine, toCodeBlock } from '../extracted.ts'
import { splitLabel, withoutMarks } from '../marks.ts'
import { LABEL, type RaisedClasses, raisedClassesOf, writeShown } from './html-marks.ts'
import { type PageElement, parsePage } from './html-page.ts'
import { addTableRules, evenTables, shapeOf } from './html-tables.ts'
import type { ShowPicture } from './image.ts'

/** Share of the page's text that `main` must have; otherwise the whole page is used. */
const MIN_SHARE = 0.9
/** Navigation has at least this share of its text in links. */
const LINKED_SHARE = 0.5

/** The whole text of a page but for what is hidden and its navigation, under the page's title. */
export async function extractHtml(html: string, show: ShowPicture = showNone): Promise<Extracted> {
  const page = parsePage(html)
  const { body } = page
  const heading = oneLine(page.title)
  const css = Array.from(page.querySelectorAll('style'), ({ textContent }) => textContent)
  const classes = raisedClassesOf(css.join('\n'))
  const text = body ? await elementToMarkdown(contentOf(body), show, classes) : ''
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

/** Keeps the labels of each diagram. */
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

const OMITTED = 'title script style noscript template iframe object svg canvas'.split(' ')

/** Behind a heading, to copy its address. */
const PERMALINK = /^\s*[¶§#]\s*$/

const BLOCKS = ['DETAILS', 'SUMMARY', 'DIALOG', 'LEGEND', 'SEARCH']

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
service.addRule('code', {
  filter: (node: PageElement) => node.nodeName === 'PRE' && node.querySelector('code') !== null,
  replacement(_, node: PageElement) {
    const code = node.querySelector('code')
    const [, language = ''] = /(?:^|\s)language-(\S+)/.exec(code?.getAttribute('class') ?? '') ?? []
    return `\n\n${toCodeBlock((node.textContent ?? '').replace(/^\n/, ''), language)}\n`
  },
})
// Browsers draw them as blocks, which the library does not know.
service.addRule('block', {
  filter: (node: PageElement) => BLOCKS.includes(node.nodeName),
  replacement: (content) => `\n\n${content.trim()}\n\n`,
})
service.addRule('item', { filter: 'li', replacement: writeItem })
addTableRules(service)
// The text is read, not rendered: a word with escapes would not be found.
service.escape = (text) => text

/** A list whose items only hold other lists is no level of its own. */
function writeItem(content: string, node: PageElement): string {
  const [first, ...more] = node.children
  const isWrapper = first && more.length === 0 && /^[OU]L$/.test(first.nodeName)
  const [own, words] = splitLabel(content.trim())
  if (isWrapper && oneLine(first.textContent ?? '') === oneLine(node.textContent ?? '')) {
    return `${words}\n`
  }
  const label = own ?? node.getAttribute(LABEL)
  const sign = label === null ? '-   ' : `${label}  `
  return `${sign}${words.replaceAll('\n', `\n${' '.repeat(sign.length)}`)}\n`
}

/** Converts a fragment of HTML to Markdown. */
export async function htmlToMarkdown(html: string, show: ShowPicture = showNone): Promise<string> {
  const { body } = parsePage(`<!doctype html><html><body>${html}</body></html>`)
  return body ? elementToMarkdown(body, show) : ''
}

/** Converts an element to Markdown. Throws `text_too_long`. */
export async function elementToMarkdown(
  element: PageElement,
  show: ShowPicture,
  classes?: RaisedClasses,
): Promise<string> {
  const text = createBoundedText()
  await showPictures(element, show)
  keepLabels(element)
  writeShown(element, classes)
  evenTables(element)
  text.add(withoutMarks(service.turndown(element)))
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
