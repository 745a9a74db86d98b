/**
 * Roughly what a byte-pair vocabulary makes of one UTF-16 code unit: four Latin letters, nearly three Greek
 * or Cyrillic ones, two of an Indic or Thai script, or one ideograph to a token; two tokens for an emoji.
 * A real tokenizer takes seconds on a hundred thousand equal letters; this one is linear. All are multiples
 * of an eighth, so that sums are exact.
 */
export function tokensOf(code: number): number {
  if (code < 0x300) return 0.25
  if (code < 0x900) return 0.375
  return code < 0x2e80 ? 0.5 : 1
}

/** Estimated tokens of `text` between two offsets, in time linear in their distance. */
export function estimateTokens(text: string, start = 0, end = text.length): number {
  let tokens = 0
  for (let index = start; index < end; index++) tokens += tokensOf(text.charCodeAt(index))
  return tokens
}

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
const TAB = 0x09
const SPACE = 0x20

/** The blanks of `\s`: what trimming takes away, and what no chunk has to cover. */
export function isBlank(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)
  if (code < 0x1680) return code === 0xa0
  if (code < 0x3000) return isRareBlank(code)
  return code === 0x3000 || code === 0xfeff
}

function isRareBlank(code: number): boolean {
  if (code >= 0x2000 && code <= 0x200a) return true
  return code === 0x1680 || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f
}

/** How wide a blank makes the indent of a line. */
export function blankWidth(code: number): number {
  return code === TAB ? 4 : 1
}

export function isLineBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** The first position at or after `index` that is not blank, at most `end`. */
export function skipBlanks(text: string, index: number, end: number): number {
  let position = index
  while (position < end && isBlank(text.charCodeAt(position))) position++
  return position
}

/** As `skipBlanks`, but never past the end of the line. */
export function skipIndent(text: string, index: number, end: number): number {
  let position = index
  while (position < end && isIndent(text.charCodeAt(position))) position++
  return position
}

function isIndent(code: number): boolean {
  return isBlank(code) && !isLineBreak(code)
}

/** The position after the last character before `end` that is not blank, at least `start`. */
export function trimEnd(text: string, start: number, end: number): number {
  let position = end
  while (position > start && isBlank(text.charCodeAt(position - 1))) position--
  return position
}
