import { type Block, scanBlocks } from '../../../lib/markdown/blocks.ts'
import type { Fence } from '../../../lib/markdown/lines.ts'
import { createHeadingPath, type HeadingStep } from './heading-path.ts'
import {
  BOUNDARY,
  createUnitPacker,
  SPLIT_LIMITS,
  type SplitChunk,
  type SplitLimits,
} from './pack-units.ts'
import { splitBlock } from './split-block.ts'

/** Where a text stands that goes on: what the next piece of it begins below, and within. */
export interface SplitContext {
  headings: readonly HeadingStep[]
  /** Of a block of code that was not closed. */
  fence: Fence | undefined
}

/** A piece of a long sentence as a share of a chunk. */
const PIECE_SHARE = 1 / 8

/**
 * Cuts a text into chunks for retrieval, in order. Every character that is not blank is in at least one
 * of them, neighbours share whole sentences, and no chunk is longer than `limits` allow. Text without
 * anything but blanks has none. Takes time linear in the text whatever stands in it.
 */
export function splitText(text: string, limits: SplitLimits = SPLIT_LIMITS): SplitChunk[] {
  return splitPiece(text, undefined, limits).chunks
}

/** As `splitText`, of a piece of a longer text that goes on where `before` ended; no chunk reaches over its end. */
export function splitPiece(
  text: string,
  before: SplitContext | undefined,
  limits: SplitLimits = SPLIT_LIMITS,
): { chunks: SplitChunk[]; context: SplitContext } {
  const packer = createUnitPacker(text, limits)
  const path = createHeadingPath(before?.headings)
  const unitLimits = { unit: limits.tokens, piece: limits.tokens * PIECE_SHARE }
  let last: Block | undefined
  for (const block of scanBlocks(text, before)) {
    if (block.kind === 'heading') path.enter(block.level, block.title)
    const heading = path.current()
    const boundary = boundaryBetween(text, last, block)
    for (const unit of splitBlock(text, block, boundary, unitLimits)) {
      packer.add({ ...unit, heading })
    }
    last = block
  }
  const fence = last ? fenceAfter(last) : before?.fence
  return { chunks: packer.finish(), context: { headings: path.steps(), fence } }
}

function fenceAfter(block: Block): Fence | undefined {
  return block.kind === 'code' ? block.open : undefined
}

function boundaryBetween(text: string, before: Block | undefined, block: Block): number {
  if (before?.kind === 'heading') return BOUNDARY.never
  if (block.kind === 'heading') return BOUNDARY.heading
  const isIntroduced = before !== undefined && text[before.end - 1] === ':'
  if (isIntroduced) return BOUNDARY.sentence
  return block.kind === 'prose' ? BOUNDARY.paragraph : BOUNDARY.block
}
