import { signal } from '@preact/signals'
import { matchesIn, patternOf } from './find-text.ts'

/** How often somebody has asked to search the conversation that is shown since the search was last closed. */
export const findRequests = signal(0)
/** What is looked for in it; empty while it is not searched. */
export const findWords = signal('')
/** How often answers have been searched because they grew. */
export const searches = signal(0)

/** More are neither counted nor marked. */
export const MAX_MATCHES = 1_000

export interface FoundWords {
  /** The place of the turn in the conversation. */
  turn: number
  range: Range
}

/** The words that people read: not what buttons say, nor what is there for screen readers alone. */
const TEXTS = '.question .chunk-text, .answer'
const NO_TEXT = 'button, figcaption, annotation, .visually-hidden, .link-target'
/** What words do not go on beyond. */
const BLOCKS = 'p, li, td, th, h3, h4, h5, h6, pre, blockquote, .answer-part'

/** Where words stand in the questions and answers that are shown, in their order. */
export function findInTurns(turns: Iterable<Element>, words: string): FoundWords[] {
  const pattern = patternOf(words)
  const found: FoundWords[] = []
  if (!pattern) return found
  for (const [turn, element] of [...turns].entries()) {
    for (const nodes of blocksOf(element)) {
      for (const { start, end } of matchesIn(nodes.map(wordsOf), pattern)) {
        const [first, last] = [nodes[start.piece], nodes[end.piece]]
        if (!first || !last || found.length === MAX_MATCHES) return found
        const range = document.createRange()
        range.setStart(first, start.at)
        range.setEnd(last, end.at)
        found.push({ turn, range })
      }
    }
  }
  return found
}

/** A line ends at what is no text; words neither begin nor end there. */
const wordsOf = (node: Node) => (node instanceof Text ? node.data : '\n')

/** The text of a turn and the ends of its lines, block by block. */
function blocksOf(turn: Element): Node[][] {
  const blocks: Node[][] = []
  let before: Element | null | undefined
  for (const text of turn.querySelectorAll(TEXTS)) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      const isShown = node instanceof Text || node instanceof HTMLBRElement
      if (!isShown || parent?.closest(NO_TEXT)) continue
      const block = parent?.closest(BLOCKS)
      if (block === before) blocks.at(-1)?.push(node)
      else blocks.push([node])
      before = block
    }
  }
  return blocks
}

/** How much of a long answer has to be drawn so that words in it are found, whole lines; it is drawn as Markdown, but searched as text. */
export function lengthWith(answer: string, words: string): number {
  const pattern = patternOf(words)
  const last = pattern && Array.from(answer.matchAll(pattern).take(MAX_MATCHES)).at(-1)
  if (!last) return 0
  const end = answer.indexOf('\n', last.index + last[0].length)
  return end === -1 ? answer.length : end + 1
}

/** Marks words without touching the text, which may still grow; browsers that cannot only scroll there. */
export function markFound(found: readonly FoundWords[], current: FoundWords | undefined): void {
  if (typeof Highlight === 'undefined') return
  CSS.highlights.set('found', new Highlight(...found.map(({ range }) => range)))
  const shown = new Highlight(...(current ? [current.range] : []))
  shown.priority = 1
  CSS.highlights.set('found-current', shown)
}

/** Scrolls words to the middle of the window. */
export function scrollToFound({ range }: FoundWords): void {
  const scroll = () => {
    range.startContainer.parentElement?.scrollIntoView({ block: 'center' })
    // A block may be higher than the window.
    const { top, bottom } = range.getBoundingClientRect()
    const isSeen = top > EDGE && bottom < window.innerHeight - EDGE
    if (!isSeen) window.scrollBy(0, (top + bottom - window.innerHeight) / 2)
  }
  scroll()
  // What is near is only laid out there.
  requestAnimationFrame(scroll)
}

/** At the ends of the window, what sticks there covers as much, in pixels. */
const EDGE = 160
