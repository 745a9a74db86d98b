import { noteMark, ruby, struck, subscript, superscript } from '../marks.ts'
import { orderedLabel } from '../numbering.ts'
import type { PageElement } from './html-page.ts'

/** By keyword, by more than pictures are raised, or by a relative position. */
const RAISED =
  /vertical-align\s*:\s*(?:super|[2-9]\d%|0?\.[2-9]\d*(?:r?em|ex)|[3-9](?:px|pt))|position\s*:\s*relative[^}]*?[;\s]top\s*:\s*-/i
const LOWERED = /vertical-align\s*:\s*sub/i
const STRUCK = /text-decoration(?:-line)?\s*:[^;]{0,100}line-through/i
/** A link with such a text leads to a note. */
const NOTE = /^\s*\[?(?:\d{1,3}|[a-z]|[ivx]{1,5}|[*†‡§]{1,3})\]?\s*$/i
/** Choices that are named where none is made. */
const MAX_CHOICES = 50

/** The classes that a style sheet raises above the line, lowers, or strikes out. */
export interface RaisedClasses {
  raised: ReadonlySet<string>
  lowered: ReadonlySet<string>
  struck: ReadonlySet<string>
}

const NONE: RaisedClasses = { raised: new Set(), lowered: new Set(), struck: new Set() }

/** Reads which classes are raised, lowered or struck out, by the last class of each selector. */
export function raisedClassesOf(css: string): RaisedClasses {
  const raised = new Set<string>()
  const lowered = new Set<string>()
  const crossed = new Set<string>()
  for (const rule of css.split('}')) {
    const [selectors = '', style = ''] = rule.split('{', 2)
    for (const name of classesIn(selectors)) {
      if (RAISED.test(style)) raised.add(name)
      else if (LOWERED.test(style)) lowered.add(name)
      if (STRUCK.test(style)) crossed.add(name)
    }
  }
  return { raised, lowered, struck: crossed }
}

const classesIn = (selectors: string) =>
  selectors
    .split(',')
    .map((selector) => /(?:^|[\s>])(?:span|a|font|small)?\.([\w-]+)$/.exec(selector.trim())?.[1])
    .filter((name) => name !== undefined)

/** Writes as text what a browser shows in another way: exponents, notes, readings, ticks, choices, numbers of lists. */
export function writeShown(element: PageElement, classes: RaisedClasses = NONE): void {
  const each = (selectors: string, write: (one: PageElement) => void) => {
    for (const one of [...element.querySelectorAll(selectors)]) write(one)
  }
  each('ruby', writeRuby)
  each('sup', (one) => wrap(one, superscript))
  each('sub', (one) => wrap(one, subscript))
  const wrapStruck = createWrapStruck()
  each(STRIKING, wrapStruck)
  each('span, a, font', (one) => wrapStyled(one, classes, wrapStruck))
  each('a[href]', wrapNote)
  each('input, select, textarea', writeControl)
  each('ol', numberItems)
  each('pre br', (one) => one.replaceWith('\n'))
  // A heading is one line.
  each('h1 br, h2 br, h3 br, h4 br, h5 br, h6 br', (one) => one.replaceWith(' '))
}

const STRIKING = 'del, s, strike, [style*=line-through]'
const BLOCKS = 'tr, td, th, li, h1, h2, h3, h4, h5, h6, pre, blockquote'
const ROWS = /^(?:table|t[rdh]|thead|tbody|[uo]l|li|h[1-6]|pre|blockquote)$/i

/** Marks struck text once, within a line; marks around blocks would take them apart, and in code be its text. */
function createWrapStruck() {
  const marked = new Set<PageElement>()
  return (element: PageElement): void => {
    const isOfBlocks = ROWS.test(element.nodeName) || element.querySelector(BLOCKS)
    if (isOfBlocks || element.closest('pre, code') || hasAncestorIn(marked, element)) return
    marked.add(element)
    wrap(element, struck)
  }
}

function hasAncestorIn(marked: ReadonlySet<PageElement>, element: PageElement): boolean {
  for (let above = element.parentElement; above; above = above.parentElement) {
    if (marked.has(above)) return true
  }
  return false
}

function wrapNote(link: PageElement): void {
  const href = link.getAttribute('href') ?? ''
  if (href.includes('#') && NOTE.test(link.textContent ?? '')) wrap(link, noteMark)
}

/** Puts the marks around what is in an element. */
function wrap(element: PageElement, mark: (text: string) => string): void {
  const [begin = '', end = ''] = [...mark('')]
  element.prepend(begin)
  element.append(end)
}

function wrapStyled(
  element: PageElement,
  { raised, lowered, ...classes }: RaisedClasses,
  wrapStruck: (element: PageElement) => void,
): void {
  const style = element.getAttribute('style') ?? ''
  const names = (element.getAttribute('class') ?? '').split(/\s+/)
  if (RAISED.test(style) || names.some((name) => raised.has(name))) wrap(element, superscript)
  else if (LOWERED.test(style) || names.some((name) => lowered.has(name))) wrap(element, subscript)
  if (names.some((name) => classes.struck.has(name))) wrapStruck(element)
}

function writeRuby(element: PageElement): void {
  const readings = [...element.querySelectorAll('rt')].map((one) => one.textContent?.trim() ?? '')
  for (const one of [...element.querySelectorAll('rt, rp, rtc')]) one.remove()
  element.replaceWith(ruby(element.textContent?.trim() ?? '', readings.join(' ')))
}

/** What was chosen or typed. A list in which nothing is chosen names its choices. */
function writeControl(element: PageElement): void {
  const name = element.nodeName.toLowerCase()
  if (name === 'textarea') element.before(element.textContent ?? '')
  else if (name === 'select') element.before(choicesOf(element))
  else element.before(inputOf(element))
  element.remove()
}

function choicesOf(element: PageElement): string {
  const options = [...element.querySelectorAll('option')]
  const selected = options.filter((option) => option.getAttribute('selected') !== null)
  const shown = selected.length > 0 ? selected : options.slice(0, MAX_CHOICES)
  return ` ${shown.map((option) => option.textContent?.trim()).join(', ')} `
}

function inputOf(element: PageElement): string {
  const type = element.getAttribute('type')?.toLowerCase() ?? 'text'
  if (type === 'checkbox' || type === 'radio') {
    return element.getAttribute('checked') === null ? '[ ] ' : '[x] '
  }
  return UNSHOWN.has(type) ? '' : ` ${element.getAttribute('value') ?? ''} `
}

const UNSHOWN = new Set('hidden password image file color range reset submit button'.split(' '))

/** The attribute with the label of an item. */
export const LABEL = 'data-label'

function numberItems(list: PageElement): void {
  const items = Array.from(list.children).filter(({ nodeName }) => nodeName === 'LI')
  const isReversed = list.getAttribute('reversed') !== null
  const start = Number.parseInt(list.getAttribute('start') ?? '', 10)
  const type = list.getAttribute('type') || '1'
  let number = Number.isNaN(start) ? (isReversed ? items.length : 1) : start
  for (const item of items) {
    const value = Number.parseInt(item.getAttribute('value') ?? '', 10)
    if (!Number.isNaN(value)) number = value
    item.setAttribute(LABEL, `${orderedLabel(number, item.getAttribute('type') || type)}.`)
    number += isReversed ? -1 : 1
  }
}
