import purify from 'dompurify'
import { Marked } from 'marked'

/** What an answer may consist of: no images, no forms, nothing that calls out or runs. */
const ALLOWED_TAGS = [
  ...['p', 'br', 'strong', 'em', 'del', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote'],
  ...['pre', 'code', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'hr', 'a'],
]
const ALLOWED_ATTR = ['href', 'start', 'align']
const SAFE_LINK = /^(?:https?:|mailto:)/i
const CITATION = /\[(\d{1,3})\]/
const NO_CITATIONS_IN = 'pre, code, a'

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Shown as it is written.
    html: ({ text }) => escaped(text),
    // To load it would tell its server what was said.
    image: ({ text, href }) => escaped(`[image: ${text || href}]`),
    // The page has a title and each answer a place below it.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
  },
})

/** Markdown as nodes that are safe to show; `[n]` becomes a button where `hits` has an n-th. */
export function renderMarkdown(text: string, hits: number): DocumentFragment {
  const html = markdown.parse(text, { async: false })
  const fragment = purify.sanitize(html, {
    ...{ ALLOWED_TAGS, ALLOWED_ATTR, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false },
    RETURN_DOM_FRAGMENT: true,
  })
  for (const link of fragment.querySelectorAll('a')) showTarget(link)
  for (const table of fragment.querySelectorAll('table')) makeScrollable(table)
  for (const node of textNodes(fragment)) markCitations(node, hits)
  return fragment
}

/** A link says where it leads: its words may say something else, and its address may carry what was said. */
function showTarget(link: HTMLAnchorElement): void {
  const address = link.getAttribute('href') ?? ''
  if (!SAFE_LINK.test(address)) {
    link.replaceWith(...link.childNodes)
    return
  }
  link.target = '_blank'
  link.rel = 'noopener noreferrer nofollow'
  link.title = address
  const { host } = link
  if (host === '' || link.textContent?.includes(host)) return
  const target = document.createElement('span')
  target.className = 'link-target'
  target.textContent = ` (${host})`
  link.append(target)
}

function makeScrollable(table: HTMLTableElement): void {
  const place = document.createElement('section')
  place.className = 'table-place'
  place.tabIndex = 0
  place.setAttribute('aria-label', 'Table')
  table.replaceWith(place)
  place.append(table)
}

function textNodes(fragment: DocumentFragment): Text[] {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT)
  const found: Text[] = []
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text && !node.parentElement?.closest(NO_CITATIONS_IN)) found.push(node)
  }
  return found
}

function markCitations(node: Text, hits: number): void {
  let rest = node
  for (;;) {
    const match = CITATION.exec(rest.data)
    if (!match) return
    const [whole, digits = ''] = match
    const mark = rest.splitText(match.index)
    rest = mark.splitText(whole.length)
    const place = Number(digits)
    if (place >= 1 && place <= hits) mark.replaceWith(citationButton(place))
  }
}

function citationButton(place: number): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'citation'
  button.dataset.hit = String(place - 1)
  button.textContent = String(place)
  button.setAttribute('aria-label', `Source ${place}`)
  return button
}
