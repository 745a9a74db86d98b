const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const TAB = 0x09
const SPACE = 0x20

/** Whether a character matches `\s`: trimming removes these, and chunks need not cover them. */
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

export function isLineBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** `index`, or one less if it is between the halves of a surrogate pair. */
export function atCodePoint(text: string, index: number): number {
  const code = text.charCodeAt(index)
  const before = text.charCodeAt(index - 1)
  const isWithinPair = code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff
  return isWithinPair ? index - 1 : index
}

/** The first position at or after `index` that is not blank, at most `end`. */
export function skipBlanks(text: string, index: number, end: number): number {
  let position = index
  while (position < end && isBlank(text.charCodeAt(position))) position++
  return position
}

/** Like `skipBlanks`, but never beyond the end of the line. */
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
