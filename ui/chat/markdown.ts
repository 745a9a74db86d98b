import { endsInCodeName } from '@agent-server/lib/markdown/code-names.ts'
import purify from 'dompurify'
import { Marked } from 'marked'
import { h, render } from 'preact'
import { copyText } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { boundedNesting } from './bounded-nesting.ts'
import { footnotes, noteLabels, noteLetters } from './footnote-syntax.ts'
import { linkFootnotes } from './footnotes.ts'
import { formulaSyntax } from './formula-syntax.ts'
import { previewButton } from './preview-button.ts'
import { previewOf } from './previews.ts'

/** What an answer may consist of: no images, no forms, nothing that calls out or runs. */
const ALLOWED_TAGS = [
  'p',
  'br',
  'strong',
  'em',
  'del',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'pre',
  'code',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'hr',
  'a',
  'span',
  'sup',
]
const ALLOWED_ATTR = ['href', 'start', 'align', 'lang', 'class']
const SAFE_LINK = /^(?:https?:|mailto:)/i
/** A mark with its number, or one whose number no hit has. */
const CITATION = /\[(\d{1,3}|\?)\]/g
/** Each is written from its own side. */
const BLOCKS = 'p, h3, h4, h5, h6, ul, ol, li, blockquote, table, td, th'
/** Where a block of code has its end. */
const CLOSED = /\n *(?:`{3,}|~{3,})\s*$/
const NO_CITATIONS_IN = 'pre, code, a, .formula, .note-mark'

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const markdown = new Marked({
  gfm: true,
  breaks: true,
  extensions: formulaSyntax(escaped),
  renderer: {
    // Shown as it is written.
    html: ({ text }) => escaped(text),
    // Loading it could reveal the conversation to its server.
    image: ({ text, href }) => escaped(`[image: ${text || href}]`),
    // The language is shown above the code.
    code({ raw, text, lang = '' }) {
      const language = escaped(/^[\w+#.-]{1,20}/.exec(lang)?.[0] ?? '')
      // Coloured once it is complete, and not while it grows.
      const name = language && CLOSED.test(raw) ? ` class="language-${language}"` : ''
      return `<pre lang="${language}"><code${name}>${escaped(text)}</code></pre>\n`
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    // The page has a title and each answer a place below it.
    heading({ tokens, depth }) {
      const tag = tagOf(depth)
      return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>\n`
    },
  },
})

markdown.setOptions({ tokenizer: boundedNesting() })
markdown.use(footnotes())

/** What stands around a part of a text. */
interface MarkdownContext {
  /** The depths of the headings that it stands below. */
  above?: readonly number[]
  /** The letters of the notes of all of the text, by their labels. */
  notes?: ReadonlyMap<string, string>
}

const tagOf = (depth: number) => `h${Math.min(depth + 2, 6)}`

/**
 * Markdown as nodes that are safe to show; `[n]` becomes a button where `hits` has an n-th, and a mark of the same look
 * while they are awaited, which come after the text.
 */
export function renderMarkdown(
  text: string,
  hits: number | 'awaited',
  { above = [], notes = noteLetters(noteLabels(text)) }: MarkdownContext = {},
): DocumentFragment {
  const html = markdown.parse(text, { async: false })
  const fragment = purify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  })
  nestHeadings(fragment, above)
  for (const block of fragment.querySelectorAll<HTMLElement>(BLOCKS)) block.dir = 'auto'
  for (const item of fragment.querySelectorAll('li')) {
    item.classList.toggle('task', /^[☑☐] /.test(item.textContent ?? ''))
  }
  linkFootnotes(fragment, notes)
  for (const link of fragment.querySelectorAll('a')) showTarget(link)
  for (const table of fragment.querySelectorAll('table')) makeScrollable(table)
  for (const code of fragment.querySelectorAll('pre')) addCodeHead(code)
  for (const node of textNodes(fragment)) {
    if (!node.parentElement?.closest(NO_CITATIONS_IN)) markCitations(node, hits)
  }
  return fragment
}

/** No heading stands more than one level below the one that it belongs to, wherever the text begins. */
function nestHeadings(fragment: DocumentFragment, depths: readonly number[]): void {
  const above = depths.map(tagOf)
  for (const heading of fragment.querySelectorAll('h3, h4, h5, h6')) {
    const level = heading.localName
    while ((above.at(-1) ?? '') >= level) above.pop()
    above.push(level)
    const nested = `h${2 + above.length}`
    if (nested === level) continue
    const replacement = document.createElement(nested)
    replacement.append(...heading.childNodes)
    heading.replaceWith(replacement)
  }
}

/** A link shows its address: its text may claim another one, and the address may carry parts of the conversation. */
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

/** Puts the language and what can be done above a block of code. */
function addCodeHead(code: HTMLPreElement): void {
  const text = code.textContent ?? ''
  const language = code.lang
  code.removeAttribute('lang')
  code.tabIndex = 0
  const block = document.createElement('figure')
  const head = document.createElement('figcaption')
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  const label = document.createElement('span')
  label.textContent = 'Copy code'
  render(h(Icon, { name: 'copy' }), button)
  button.append(label)
  button.addEventListener('click', () => {
    copyText(text).then(
      () => showFor(label, 'Copied'),
      () => showFor(label, 'Not copied'),
    )
  })
  const isWhole = code.querySelector('code[class]') !== null
  const preview = isWhole ? previewOf(language, text) : undefined
  const actions = document.createElement('span')
  actions.className = 'row tight'
  if (preview) actions.append(previewButton(preview, code))
  actions.append(button)
  head.append(language || 'Code', actions)
  block.className = 'code-block'
  code.replaceWith(block)
  block.append(head, code)
}

const SHOWN_MS = 2_000

function showFor(label: HTMLElement, text: string): void {
  const { textContent } = label
  label.textContent = text
  setTimeout(() => {
    label.textContent = textContent
  }, SHOWN_MS)
}

/** Replaces the children of an element from the first that differs, so that what is selected before it stays so. */
export function redraw(element: Element, fragment: DocumentFragment): void {
  // That a citation is open is none of the text.
  const open = element.querySelector('[aria-current]')
  open?.removeAttribute('aria-current')
  const [before, after] = [[...element.childNodes], [...fragment.childNodes]]
  const differs = before.findIndex((node, place) => !after[place]?.isEqualNode(asWritten(node)))
  const same = differs === -1 ? before.length : differs
  for (const node of before.slice(same)) node.remove()
  element.append(...after.slice(same))
  open?.setAttribute('aria-current', 'true')
}

/** Without what is shown in place of code, which stays while the answer grows. */
function asWritten(node: Node): Node {
  if (!(node instanceof Element) || !node.querySelector(PRESSED)) return node
  const written = document.importNode(node, true)
  for (const button of written.querySelectorAll(PRESSED)) button.ariaPressed = 'false'
  for (const shown of written.querySelectorAll('.drawing, .framed')) shown.remove()
  for (const code of written.querySelectorAll('pre')) code.hidden = false
  return written
}

const PRESSED = '[aria-pressed="true"]'

export function textNodes(fragment: Node): Text[] {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT)
  const texts: Text[] = []
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text) texts.push(node)
  }
  return texts
}

function markCitations(node: Text, hits: number | 'awaited'): void {
  const text = node.data
  // From the last, so that the places of those before it stay the same.
  for (const { 0: whole, 1: digits = '', index } of [...text.matchAll(CITATION)].reverse()) {
    const citation = citationOf(digits, hits)
    if (!citation || endsInCodeName(text.slice(0, index))) continue
    const mark = node.splitText(index)
    mark.splitText(whole.length)
    mark.replaceWith(citation)
  }
}

function citationOf(digits: string, hits: number | 'awaited'): HTMLElement | undefined {
  const number = Number(digits)
  if (hits === 'awaited') return number >= 1 ? awaitedCitation(digits) : undefined
  if (number >= 1 && number <= hits) return citationButton(number)
  return digits === '?' && hits > 0 ? unknownCitation() : undefined
}

function awaitedCitation(digits: string): HTMLElement {
  const mark = document.createElement('span')
  mark.className = 'citation'
  mark.textContent = digits
  return mark
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

function unknownCitation(): HTMLElement {
  const mark = document.createElement('button')
  mark.type = 'button'
  mark.className = 'citation unknown'
  mark.textContent = '?'
  mark.setAttribute('aria-label', 'Unknown source')
  return mark
}
