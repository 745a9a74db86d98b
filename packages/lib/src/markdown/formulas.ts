/**
 * LaTeX in Markdown, as the web UI draws it and the check of citations passes it over: `$…$`, `\(…\)` and `$$…$$` in a
 * line of text, of at most 2,000 characters. What encloses a formula is no part of a word or a price, as in
 * `$5 and $10` or `$HOME/$USER`.
 */
const IN_TEXT =
  /^(?:\$\$(?:\\.|[^\\$`]){1,2000}\$\$|\$(?![\s$])(?:\\.|[^\\$`\n]){1,2000}(?<!\s)\$(?![\p{L}\p{N}$])|\\\((?:\\[^)]|[^\\]){1,2000}\\\))/su
/** `$$…$$` and `\[…\]` on lines of their own. */
const ON_LINES =
  /^ {0,3}(?:\$\$(?:\\.|[^\\$]){1,2000}\$\$|\\\[((?:\\[^\]]|[^\\]){1,2000})\\\])[ \t]*(?:\n|$)/s
/** An amount of money with words after it, up to another amount. */
const AMOUNT = /^\$\d[\d.,]*\s+\p{L}{2}/u
/** Brackets around words may also be escaped to be shown. */
const MATHEMATICAL = /[\\^_=+*/<>|]/
/** What may still become a formula, of `$`, `$$`, `\(`, and what may stand on lines of its own. */
const OPEN_IN_TEXT =
  /^(?:\$\$?|\$\$(?:\\.|[^\\$`]){1,2000}\\?\$?|\$(?![\s$])(?:\\.|[^\\$`\n]){0,2000}\\?|\\\((?:\\[^)]|[^\\]){0,2000}\\?)$/su
const OPEN_ON_LINES =
  /^(?:\$\$?|\$\$(?:\\.|[^\\$]){1,2000}\\?\$?|\\\[(?:\\[^\]]|[^\\]){0,2000}\\?)$/s
const BLANK_LINE = /\n[ \t]*\n/
/** Characters of a formula in brackets, with its marks. */
const MAX_IN_BRACKETS = 2_004
/** A closing bracket whose backslash is not itself escaped. */
const CLOSING = { '(': /(?<!\\)(?:\\\\)*\\\)/g, '[': /(?<!\\)(?:\\\\)*\\\]/g }

/** Where the next bracket closes, or up to where none does so far, in the whole text. */
interface Closing {
  at: number
  isThere: boolean
}

/**
 * Checks a text and what remains of it, again and again, in linear time: the next closing bracket is looked for once.
 * `position` is how much of the whole text went before, and `isEnd` whether all of it is there.
 */
export function createUnclosed() {
  const next = new Map<string, Closing>()
  return (text: string, position: number, isEnd: boolean): boolean => {
    const bracket = text[1]
    if (text[0] !== '\\' || (bracket !== '(' && bracket !== '[')) return false
    const known = next.get(bracket)
    const isKnown = known?.isThere && position + 2 <= known.at
    const closing = isKnown ? known : closingIn(text, position, bracket, known)
    next.set(bracket, closing)
    if (isEnd && !closing.isThere) return true
    return closing.at - position > MAX_IN_BRACKETS - 2
  }
}

function closingIn(
  text: string,
  position: number,
  bracket: keyof typeof CLOSING,
  known: Closing | undefined,
): Closing {
  const from = Math.max(known && !known.isThere ? known.at - position : 0, 2)
  const pattern = CLOSING[bracket]
  pattern.lastIndex = from
  if (pattern.test(text)) return { at: position + pattern.lastIndex - 2, isThere: true }
  let end = text.length
  while (end > from && text[end - 1] === '\\') end -= 1
  return { at: position + end, isThere: false }
}

/** The formula that a text begins with. */
export function formulaInText(text: string): string | undefined {
  const [formula] = IN_TEXT.exec(text) ?? []
  if (!formula || AMOUNT.test(formula)) return undefined
  return formula.startsWith('\\(') && formula.length > MAX_IN_BRACKETS ? undefined : formula
}

/** The formula on lines of its own that a text begins with, with the end of its last line. */
export function formulaOnLines(text: string): string | undefined {
  const [formula, inBrackets = '='] = ON_LINES.exec(text) ?? []
  if (!formula || inBrackets.length > MAX_IN_BRACKETS) return undefined
  return MATHEMATICAL.test(inBrackets) ? formula : undefined
}

/**
 * The length of the formula that a streamed text begins with, 0 if there is none, and undefined if that depends on what
 * follows.
 */
export function formulaLength(
  text: string,
  { beginsLine, isWaiting }: { beginsLine: boolean; isWaiting: boolean },
): number | undefined {
  const formula = (beginsLine && formulaOnLines(text)) || formulaInParagraph(text)
  if (formula !== undefined && (!isWaiting || formula.length < text.length)) return formula.length
  if (!isWaiting) return 0
  const mayFollow =
    (beginsLine && OPEN_ON_LINES.test(text)) ||
    (OPEN_IN_TEXT.test(text) && !AMOUNT.test(text) && !BLANK_LINE.test(text))
  return formula !== undefined || mayFollow ? undefined : 0
}

function formulaInParagraph(text: string): string | undefined {
  const formula = formulaInText(text)
  return formula !== undefined && !BLANK_LINE.test(formula) ? formula : undefined
}
