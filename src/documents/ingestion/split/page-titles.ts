import type { Block } from '@agent-server/lib/markdown/blocks.ts'
import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'

/** The titles above a place on its page. */
export interface PageTitles {
  /** Those with which the page begins. */
  top: readonly string[]
  /** The nearest of the others, or of the page before if this one goes on with its text. */
  last: string | undefined
  /** Whether that is of this page. */
  isLastHere: boolean
  /** With what the page before begins: a title that is on each page begins none. */
  topBefore: readonly string[]
  /** Whether there is nothing but titles on the page yet, and whether one of them began a chunk. */
  isTop: boolean
  hasBegun: boolean
}

const FIRST: PageTitles = {
  top: [],
  last: undefined,
  isLastHere: true,
  topBefore: [],
  isTop: true,
  hasBegun: false,
}

/** A block with more titles is a list of names. */
const MAX_TOP = 3
const MAX_TITLE = 100
const NO_TITLE = /[.,;:!?|$%]$|[|$%]/
/** Shorter words are small in titles, too. */
const LONG_WORD = /\p{L}[\p{L}'\u2019-]{3,}/gu
const MIN_LONG_WORDS = 2
/** A sentence goes on behind such a line. */
const LAST_IS_SMALL = /(?<![\p{L}\p{N}])\p{Ll}\p{L}*$/u
const BEGINS_SMALL = /^\p{Ll}/u
/** What stands below a title in small letters, as its second line. */
const OF_TITLE = /^\(?(?:as (?:of|at)|for the|at) /
const HAS_SMALL = /\p{Ll}/u

/**
 * Tracks the titles on pages that are in letters of the text's own size, and so no headings: `CONSOLIDATED BALANCE SHEETS`.
 * What stands below is often rows of numbers or of labels, which tell nothing of what they are about. Other texts, which
 * have no pages, mark their headings or have none.
 */
export function createPageTitles(text: string, before: PageTitles | undefined) {
  const isPaged = before !== undefined || text.includes(PAGE_BREAK)
  let page = { ...(before ?? FIRST) }
  let position = 0

  const turnPage = () => {
    const { isLastHere, last, top } = page
    const carried = (isLastHere ? last : undefined) ?? top.at(-1)
    page = { ...FIRST, last: carried, isLastHere: false, topBefore: top }
  }
  /** Tells whether the page begins with them, and not with what the one before began with. */
  const addTop = (titles: readonly string[]) => {
    const { top, topBefore, hasBegun } = page
    const begins =
      !hasBegun && titles.some((title, place) => title !== topBefore[top.length + place])
    page.top = [...top, ...titles].slice(0, MAX_TOP)
    page.last = undefined
    page.hasBegun ||= begins
    return begins
  }
  const passTo = (end: number) => {
    if (text.slice(position, end).includes(PAGE_BREAK)) turnPage()
    position = end
  }

  return {
    /** Goes to the next block, and tells whether it begins a page with a title. */
    enter(block: Block): boolean {
      if (!isPaged) return false
      passTo(block.start)
      position = block.end
      const { titles, isAll } = titlesOf(text, block)
      const begins = page.isTop && titles.length > 0 && addTop(titles)
      if (block.kind === 'heading') page.last = undefined
      else if (!page.isTop && titles.length > 0) {
        page.last = titles.at(-1)
        page.isLastHere = true
      }
      page.isTop &&= isAll
      return begins
    },
    current: (): string[] => [...page.top, ...(page.last === undefined ? [] : [page.last])],
    /** At the end of the text. */
    state(): PageTitles | undefined {
      if (!isPaged) return undefined
      passTo(text.length)
      return page
    },
  }
}

/** The titles with which a block begins, and whether it has nothing else. */
function titlesOf(text: string, { kind, start, end }: Block) {
  if (kind !== 'prose') return { titles: [], isAll: false }
  const lines = text
    .slice(start, Math.min(end, start + MAX_TITLE * (MAX_TOP + 2)))
    .split('\n', MAX_TOP + 2)
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
  const rest = lines.findIndex((line) => !isTitle(line))
  const titles = rest < 0 ? lines : lines.slice(0, rest)
  if (titles.length > MAX_TOP) return { titles: [], isAll: false }
  const next = lines[rest] ?? ''
  const isSentence = BEGINS_SMALL.test(next) && !OF_TITLE.test(next)
  // What goes on below in small letters is a sentence, unless the line is in capitals.
  if (isSentence && HAS_SMALL.test(titles.at(-1) ?? '')) titles.pop()
  return { titles, isAll: rest < 0 }
}

/** Whether all long words begin with a capital, as in no sentence. */
function isTitle(line: string): boolean {
  if (line.length > MAX_TITLE || NO_TITLE.test(line) || LAST_IS_SMALL.test(line)) return false
  const words = line.match(LONG_WORD) ?? []
  return words.length >= MIN_LONG_WORDS && words.every((word) => /^\p{Lu}/u.test(word))
}
