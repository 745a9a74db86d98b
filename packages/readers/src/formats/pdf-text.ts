import { toMarkdownTable } from '../extracted.ts'
import { withoutMarks } from '../marks.ts'
import type { Block, Line, Table } from './pdf-fragments.ts'
import { createJoinDivided } from './pdf-hyphens.ts'

/** Lines that are further apart than this many line heights belong to different paragraphs. */
const PARAGRAPH_GAP = 1.9
/** A line is a heading if its letters are larger than those of most of the document by this factor. */
const HEADING_FACTOR = 1.15
/** Characters of a heading, in all of its lines. */
const MAX_HEADING = 240
const ITEM = /^[•▪◦‣●○■❖➢➤✓✔]/u
/** A heading of one line that is no longer may be a sentence. */
const MAX_SENTENCE = 80
/** What ends as a sentence or a clause does, if it begins in the middle of one or has so many words without a capital. */
const ENDED = /[.,;]$/
const SMALL_WORD = /(?<![\p{L}\p{N}])\p{Ll}+/gu
const MAX_SMALL_WORDS = 5
/** More than one sentence: an abbreviation has fewer letters before its point. */
const SENTENCES = /\p{Ll}{5,}[.;] \p{Lu}/u
const MAX_LEVEL = 6

/** The texts of pages in Markdown: headings, paragraphs, tables, and repeated headers and footers only once. */
export function toPageTexts(pages: readonly (readonly Block[])[]): string[] {
  const cleaned = joinTables(withoutRepeats(pages))
  const levelOf = levels(cleaned, usualHeight(cleaned))
  const joinDivided = createJoinDivided(
    cleaned
      .flat()
      .map((block) => (block.kind === 'table' ? block.rows.flat().join('\n') : block.text)),
  )
  return cleaned.map((blocks) => joinDivided(withoutMarks(toText(blocks, levelOf))))
}

function toText(blocks: readonly Block[], levelOf: (line: Line) => number): string {
  const parts: string[] = []
  for (const [n, block] of blocks.entries()) {
    const before = blocks[n - 1]
    if (block.kind === 'table') parts.push(before ? '\n\n' : '', toMarkdownTable(block.rows))
    else parts.push(...partsOfLine(block, before, levelOf))
  }
  return parts.join('')
}

function partsOfLine(line: Line, before: Block | undefined, levelOf: (line: Line) => number) {
  const level = levelOf(line)
  const mark = level > 0 ? `${'#'.repeat(level)} ` : ''
  if (!before) return [mark, line.text]
  if (isBelow(line, before) && levelOf(before) === level) return [level > 0 ? ' ' : '\n', line.text]
  return ['\n\n', mark, line.text]
}

/** Whether a line is in the paragraph of the one before it, by their distance. */
const isBelow = (line: Line, before: Block | undefined): before is Line =>
  before?.kind === 'line' && Math.abs(gapAbove(line, before)) <= PARAGRAPH_GAP

function gapAbove(line: Line, before: Line): number {
  const height = Math.max(line.height, before.height)
  return height > 0 ? (line.base - before.base) / height : 0
}

/** The height that most characters of the lines have. */
function usualHeight(pages: readonly (readonly Block[])[]): number {
  const characters = new Map<number, number>()
  for (const block of pages.flat()) {
    if (block.kind === 'table') continue
    const height = rounded(block.height)
    characters.set(height, (characters.get(height) ?? 0) + block.text.length)
  }
  return [...characters].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0])[0]
}

const rounded = (height: number) => Math.round(height * 2) / 2

/**
 * The level of a line as a heading, 0 for any other. The largest letters are the title if they are used for one heading
 * only.
 */
function levels(pages: readonly (readonly Block[])[], usual: number) {
  const headings = new Set(
    pages
      .flatMap((blocks) => runsOf(blocks, usual))
      .filter(isHeading)
      .flat(),
  )
  const sizes = new Map<number, Line[]>()
  for (const line of headings) {
    const size = rounded(line.height)
    sizes.set(size, [...(sizes.get(size) ?? []).slice(0, 3), line])
  }
  const order = [...sizes.keys()].toSorted((a, b) => b - a)
  const [first, second] = sizes.get(order[0] ?? 0) ?? []
  const hasTitle = order.length > 1 && first && (!second || gapAbove(second, first) < PARAGRAPH_GAP)
  return (line: Line): number => {
    if (!headings.has(line)) return 0
    return Math.min(order.indexOf(rounded(line.height)) + (hasTitle ? 1 : 2), MAX_LEVEL)
  }
}

/** Lines in letters of one size, larger than usual, that follow each other as those of a paragraph do. */
function runsOf(blocks: readonly Block[], usual: number): Line[][] {
  const runs: Line[][] = []
  let before: Block | undefined
  for (const block of blocks) {
    const isLarge = block.kind === 'line' && usual > 0 && block.height >= usual * HEADING_FACTOR
    if (isLarge) {
      const goesOn = isBelow(block, before) && rounded(before.height) === rounded(block.height)
      const run = goesOn ? runs.at(-1) : undefined
      if (run) run.push(block)
      else runs.push([block])
    }
    before = block
  }
  return runs
}

/** Whether lines are a heading, rather than an item of a list, a paragraph, or a part of one. */
function isHeading(run: readonly Line[]): boolean {
  const text = run.map((line) => line.text).join(' ')
  if (!/\p{L}/u.test(text) || text.length > MAX_HEADING || ITEM.test(text)) return false
  if (ENDED.test(text) && /^\p{Ll}/u.test(text)) return false
  if (run.length === 1 && text.length <= MAX_SENTENCE) return true
  const isSentence = ENDED.test(text) && (text.match(SMALL_WORD) ?? []).length > MAX_SMALL_WORDS
  return !isSentence && !SENTENCES.test(text)
}

/** Lines at the top and at the bottom of a page that may be its header or footer. */
const EDGE_LINES = 3
/** A line at the same place on this many pages is a header or footer. */
const MIN_REPEATS = 3
const PAGE_NUMBER =
  /^[-–—\s]*(?:(?:page|seite|p\.)\s*)?(\d{1,5})(?:\s*(?:of|von|\/)\s*\d{1,5})?[-–—\s]*$/i

/** Leaves out repeated headers and footers after their first occurrence. */
function withoutRepeats(pages: readonly (readonly Block[])[]): Block[][] {
  const counts = new Map<string, number>()
  const keys = pages.map((blocks, page) => edgeKeys(blocks, page))
  for (const own of keys)
    for (const key of new Set(own.values())) counts.set(key, (counts.get(key) ?? 0) + 1)
  const repeated = new Set<string>()
  return pages.map((blocks, page) => {
    const rest = blocks.filter((block) => {
      const key = keys[page]?.get(block)
      if (key === undefined || (counts.get(key) ?? 0) < Math.min(MIN_REPEATS, pages.length))
        return true
      const isFirst = !repeated.has(key)
      repeated.add(key)
      return isFirst
    })
    // A page that has nothing else is no more than what it repeats.
    return rest.length > 0 ? rest : [...blocks]
  })
}

/** Keys to compare the lines at the edges of pages by; none for a page that has no other text. */
function edgeKeys(blocks: readonly Block[], page: number): Map<Block, string> {
  const sorted = blocks.toSorted((a, b) => a.base - b.base)
  const lines = sorted.reduce(
    (sum, block) => sum + (block.kind === 'table' ? block.rows.length : 1),
    0,
  )
  if (lines < 3) return new Map()
  const edges = [...sorted.slice(0, EDGE_LINES), ...sorted.slice(-EDGE_LINES)]
  return new Map(
    edges.flatMap((block) => {
      if (block.kind === 'table') return []
      const number = PAGE_NUMBER.exec(block.text)?.[1]
      // Only numbers that count with the pages are those of pages.
      const text = number
        ? `# ${Number(number) - page}`
        : block.text.replaceAll(/\d+/g, (digits) => (Number(digits) === page + 1 ? '#' : digits))
      return [[block, `${Math.round(block.base / 3)} ${text}`] as const]
    }),
  )
}

/** A table that continues on the next page gets the same head there, so that each page can be read alone. */
function joinTables(pages: readonly (readonly Block[])[]): Block[][] {
  let last: Table | undefined
  return pages.map((blocks) => {
    const [first, ...more] = blocks
    const isMore = first?.kind === 'table' && last && goesOn(first, last)
    const head = isMore ? last?.rows[0] : undefined
    const result =
      isMore && head && !sameRow(first.rows[0], head)
        ? [{ ...first, rows: [head, ...first.rows] }, ...more]
        : [...blocks]
    const end = result.at(-1)
    last = end?.kind === 'table' ? end : undefined
    return result
  })
}

const ALIGNED = 6

function goesOn(table: Table, before: Table): boolean {
  return (
    table.lefts.length === before.lefts.length &&
    (sameRow(table.rows[0], before.rows[0]) ||
      table.lefts.every((left, c) => Math.abs(left - (before.lefts[c] ?? 0)) <= ALIGNED))
  )
}

const sameRow = (one: readonly string[] | undefined, other: readonly string[] | undefined) =>
  one?.length === other?.length && one?.every((text, c) => text === other?.[c])
