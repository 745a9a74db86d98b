import { type Block, scanBlocks } from '@agent-server/lib/markdown/blocks.ts'
import { atCodePoint } from '@agent-server/lib/markdown/characters.ts'
import type { Fence } from '@agent-server/lib/markdown/lines.ts'
import { isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import {
  BOUNDARY,
  createUnitPacker,
  SPLIT_LIMITS,
  type SplitChunk,
  type SplitLimits,
} from './pack-units.ts'
import { createPageTitles, type PageTitles } from './page-titles.ts'
import { splitBlock } from './split-block.ts'

/** The state where a text continues: the headings and titles above and, if one is open, the code block. */
export interface SplitContext {
  headings: readonly HeadingStep[]
  /** Of a text with pages. */
  titles?: PageTitles | undefined
  /** The fence of a code block that was not closed. */
  fence: Fence | undefined
}

/** The size of a piece of an overlong sentence, as a share of a chunk. */
const PIECE_SHARE = 1 / 8

/**
 * Cuts a text into chunks for retrieval, in order. Every non-whitespace character is in at least one of them,
 * adjacent chunks overlap by whole sentences, and no chunk is longer than `limits` allow. Text that is only
 * whitespace has no chunks. Takes time linear in the length of any text.
 */
export function splitText(text: string, limits: SplitLimits = SPLIT_LIMITS): SplitChunk[] {
  return splitPiece(text, undefined, limits).chunks
}

/** Like `splitText`, for a piece of a longer text that continues where `before` ended; no chunk crosses its end. */
export function splitPiece(
  text: string,
  before: SplitContext | undefined,
  limits: SplitLimits = SPLIT_LIMITS,
): { chunks: SplitChunk[]; context: SplitContext } {
  const packer = createUnitPacker(text, limits)
  const path = createHeadingPath(before?.headings)
  const titles = createPageTitles(text, before?.titles)
  const unitLimits = { unit: limits.tokens, piece: limits.tokens * PIECE_SHARE }
  let last: Block | undefined
  for (const block of scanBlocks(text, before)) {
    if (block.kind === 'heading') path.enter(block.level, block.title)
    const isPicture = isPictureMark(text.slice(block.start, block.end))
    // The end of the page before is about something else than a title.
    if (titles.enter(block) || isPicture) packer.cut()
    const heading = withTitles(path.current(), titles.current())
    const boundary = boundaryBetween(text, last, block)
    for (const unit of splitBlock(text, block, boundary, unitLimits)) {
      packer.add({ ...unit, heading: [heading, unit.columns].filter(Boolean).join(SEPARATOR) })
    }
    if (isPicture) packer.cut()
    last = block
  }
  const closing = last?.kind === 'code' ? last.open : undefined
  const fence = last ? closing : before?.fence
  return {
    chunks: packer.finish(),
    context: { headings: path.steps(), titles: titles.state(), fence },
  }
}

function boundaryBetween(text: string, before: Block | undefined, block: Block): number {
  if (before?.kind === 'heading') return BOUNDARY.never
  if (block.kind === 'heading') return BOUNDARY.heading
  const isIntroduced = before !== undefined && text[before.end - 1] === ':'
  if (isIntroduced) return BOUNDARY.sentence
  return block.kind === 'prose' ? BOUNDARY.paragraph : BOUNDARY.block
}

const SEPARATOR = ' > '
/** With six levels at most, this bounds the whole path. */
const MAX_STEP = 120

interface HeadingStep {
  level: number
  title: string
}

/** Tracks the headings above a position in a text, below those of `above`. */
function createHeadingPath(above: readonly HeadingStep[] = []) {
  const steps = [...above]
  let current = joined(steps)
  return {
    enter(level: number, title: string): void {
      while ((steps.at(-1)?.level ?? 0) >= level) steps.pop()
      const plain = toPlainTitle(title)
      if (plain) steps.push({ level, title: plain })
      current = joined(steps)
    },
    /** Outermost first; empty above the first heading. */
    current: () => current,
    steps: () => [...steps],
  }
}

const withTitles = (path: string, titles: readonly string[]) =>
  [path, ...titles.filter((title) => !path.endsWith(title))].filter(Boolean).join(SEPARATOR)

function joined(steps: readonly HeadingStep[]): string {
  return steps.map(({ title }) => title).join(SEPARATOR)
}

/** The text of a heading without markup: closing hashes, tags, link targets, emphasis, code. */
function toPlainTitle(title: string): string {
  const plain = title
    .replace(/<[^<>]*>/g, '')
    .replace(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .trim()
    .replace(/(^|\s)#+$/, '')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.slice(0, atCodePoint(plain, MAX_STEP)).trimEnd()
}
