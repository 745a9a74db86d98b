import type { Block } from '@agent-server/lib/markdown/blocks.ts'
import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'

/** The titles above a place on its page. */
export interface PageTitles {
  /** Those with which the page begins. */
  top: readonly string[]
  /** The nearest of the others, or of the page before if this one goes on with its text. */
  last: string | undefined
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
const BEGINS_SMALL = /^\s*\p{Ll}/u

/**
 * Tracks the titles on pages that are in letters of the text's own size, and so no headings: `CONSOLIDATED BALANCE SHEETS`.
 * What stands below is often rows of numbers or of labels, which tell nothing of what they are about. Other texts, which
 * have no pages, mark their headings or have none.
 */
export function createPageTitles(text: string, before: PageTitles | undefined) {
  const isPaged = before !== undefined || text.includes(PAGE_BREAK)
  let { top, last } = before ?? { top: [], last: undefined }
  /** Whether there was nothing but titles on the page yet. */
  let isTop = before === undefined
  /** Whether `last` is of this page, and with what the page before began. */
  let isLastHere = true
  let topBefore: string | undefined
  let position = 0

  const turnPage = () => {
    last = (isLastHere ? last : undefined) ?? top.at(-1)
    isLastHere = false
    topBefore = top[0]
    top = []
    isTop = true
  }
  const addTop = (titles: readonly string[]) => {
    const begins = top.length === 0 && titles[0] !== topBefore
    top = [...top, ...titles].slice(0, MAX_TOP)
    last = undefined
    return begins
  }

  return {
    /** Goes to the next block, and tells whether it begins a page with a title. */
    enter(block: Block): boolean {
      if (!isPaged) return false
      if (text.slice(position, block.start).includes(PAGE_BREAK)) turnPage()
      position = block.end
      const { titles, isAll } = titlesOf(text, block)
      const begins = isTop && titles.length > 0 && addTop(titles)
      if (block.kind === 'heading') last = undefined
      else if (!isTop && titles.length > 0) {
        last = titles.at(-1)
        isLastHere = true
      }
      isTop &&= isAll
      return begins
    },
    current: (): string[] => [...top, ...(last === undefined ? [] : [last])],
    state: (): PageTitles | undefined => (isPaged ? { top, last } : undefined),
  }
}

/** The titles with which a block begins, and whether it has nothing else. */
function titlesOf(text: string, { kind, start, end }: Block) {
  if (kind !== 'prose') return { titles: [], isAll: false }
  const lines = text
    .slice(start, Math.min(end, start + MAX_TITLE * (MAX_TOP + 2)))
    .split('\n', MAX_TOP + 2)
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line, place) => line !== '' || place === 0)
  const rest = lines.findIndex((line) => !isTitle(line))
  const titles = rest < 0 ? lines : lines.slice(0, rest)
  const goesOn = BEGINS_SMALL.test(lines[rest] ?? '')
  if (titles.length > MAX_TOP || goesOn) return { titles: [], isAll: false }
  return { titles, isAll: rest < 0 }
}

/** Whether all long words begin with a capital, as in no sentence. */
function isTitle(line: string): boolean {
  if (line.length > MAX_TITLE || NO_TITLE.test(line) || LAST_IS_SMALL.test(line)) return false
  const words = line.match(LONG_WORD) ?? []
  return words.length >= MIN_LONG_WORDS && words.every((word) => /^\p{Lu}/u.test(word))
}
