/** A piece of text that is never cut: a sentence, an item, a row, a block of code that fits. */
export interface Unit {
  start: number
  end: number
  /** Estimated tokens. */
  tokens: number
  /** How good a place to cut is right before it. */
  boundary: number
  /** Whether it may be said again at the beginning of the next passage. */
  repeatable: boolean
}

/**
 * How much of a passage is worth giving up to cut at a place: a passage is cut where its fill plus this is
 * greatest, so a passage that is 60 % full is rather cut before a paragraph than filled up in mid-sentence.
 */
export const BOUNDARY = {
  heading: 0.8,
  paragraph: 0.6,
  /** Before code, a table, a list, a quotation: they often belong to what precedes them. */
  block: 0.4,
  item: 0.3,
  line: 0.25,
  sentence: 0.15,
  clause: 0.05,
  anywhere: 0,
  /** After a heading, or within the head of a table. */
  never: -1,
} as const

/** Whether a subject of its own begins here: a passage that holds enough ends before it, and the next repeats nothing. */
export function isFreshStart(boundary: number): boolean {
  return boundary >= BOUNDARY.paragraph
}
