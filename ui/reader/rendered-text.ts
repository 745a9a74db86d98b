import { drawFormulas } from '../chat/formulas.ts'
import { renderMarkdown, textNodes } from '../chat/markdown.ts'
import type { Range } from './find-words.ts'
import { mailAsMarkdown, type TextForm, withTables } from './text-form.ts'

/** Private characters that stand around what is marked while Markdown is rendered, and for those in the text itself. */
const OPEN = '\uE000'
const CLOSE = '\uE001'
const MARKERS = /[\uE000\uE001]/g
const REPLACEMENT = '\uFFFD'
/** The syntax before the words of a line: a marker within it would break it. */
const LINE_SYNTAX = /^[ \t]*(?:(?:#{1,6}|[-*+>]|\d{1,9}[.)]|\|)[ \t]*)*/
/** Lines without words: below the head of a table, around code. */
const WORDLESS_LINE = /^[ \t]*(?:\|?[\s:|-]+\|?|(?:```|~~~).*)$/

/** A text as nodes that are safe to show; `ranges`, which are in order, become `mark`s. */
export function renderText(
  text: string,
  ranges: readonly Range[],
  form: TextForm,
): DocumentFragment {
  const withMarkers = insertMarkers(text.replaceAll(MARKERS, REPLACEMENT), ranges)
  const fragment = document.createDocumentFragment()
  const pages = withMarkers.split('\f').filter((page) => page.trim() !== '')
  if (pages.length === 1) fragment.append(renderPage(withMarkers, form))
  else fragment.append(...pages.map((page) => sectionOf(renderPage(page, form))))
  for (const link of fragment.querySelectorAll('a')) {
    link.href = link.href.replaceAll(/%EE%80%8[01]/gi, '')
    link.title = link.href
  }
  markBetween(fragment)
  drawFormulas(fragment)
  return fragment
}

function sectionOf(page: DocumentFragment): HTMLElement {
  const section = document.createElement('section')
  section.className = 'text-page'
  section.append(page)
  return section
}

function renderPage(text: string, form: TextForm): DocumentFragment {
  if (form === 'plain') return asItIs(text)
  if (form === 'markdown') return renderMarkdown(text, 0)
  return renderMarkdown(form === 'mail' ? mailAsMarkdown(text) : withTables(text), 0)
}

/** Only the tables that were found in a PDF are written as Markdown. */
const TABLE = /^[\uE000\uE001]*\|.*\n\|[ :|-]+\|/

function asItIs(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  for (const part of text.split(/\n\n+/)) {
    if (TABLE.test(part)) {
      fragment.append(renderMarkdown(part, 0))
      continue
    }
    const paragraph = document.createElement('p')
    paragraph.className = 'chunk-text'
    paragraph.textContent = part
    if (part.trim() !== '') fragment.append(paragraph)
  }
  return fragment
}

function insertMarkers(text: string, ranges: readonly Range[]): string {
  let result = ''
  let place = 0
  for (const { start, end } of ranges) {
    const from = Math.max(firstWord(text, start), place)
    const to = lastWord(text, end)
    if (to <= from) continue
    result += `${text.slice(place, from)}${OPEN}${text.slice(from, to)}${CLOSE}`
    place = to
  }
  return result + text.slice(place)
}

/** Where words begin at or after a place, beyond the syntax of its line. */
function firstWord(text: string, place: number): number {
  const lineStart = text.lastIndexOf('\n', place - 1) + 1
  const lineEnd = endOfLine(text, place)
  const line = text.slice(lineStart, lineEnd)
  if (lineEnd < text.length && (line.trim() === '' || WORDLESS_LINE.test(line))) {
    return firstWord(text, lineEnd + 1)
  }
  const syntax = LINE_SYNTAX.exec(line)?.[0].length ?? 0
  return Math.max(place, lineStart + syntax)
}

function endOfLine(text: string, place: number): number {
  const end = text.indexOf('\n', place)
  return end === -1 ? text.length : end
}

function lastWord(text: string, place: number): number {
  return text.slice(0, place).replace(/[\s|]+$/, '').length
}

/** Wraps the nodes between two markers in `mark`, and removes the markers. */
function markBetween(fragment: DocumentFragment): void {
  let isInside = false
  const nodeOf = (part: string): Node[] => {
    if (part === OPEN || part === CLOSE) {
      isInside = part === OPEN
      return []
    }
    const text = document.createTextNode(part)
    if (!isInside || part.trim() === '') return [text]
    const mark = document.createElement('mark')
    mark.append(text)
    return [mark]
  }
  for (const node of textNodes(fragment)) {
    node.replaceWith(...node.data.split(/([\uE000\uE001])/).flatMap(nodeOf))
  }
}
