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
/** Of a formula in brackets, with its marks: each of 2,000 characters may be escaped. */
const MAX_IN_BRACKETS = 4_004

/**
 * Checks a text and what remains of it, again and again, in linear time: the next closing bracket is looked for once.
 * `position` is how much of the whole text went before.
 */
export function createUnclosed() {
  /** By the closing bracket: where the next one stands, and from where on that holds. */
  const next = new Map<string, { from: number; at: number }>()
  return (text: string, position: number): boolean => {
    if (!/^\\[[(]/.test(text)) return false
    const closing = text[1] === '(' ? '\\)' : '\\]'
    const known = next.get(closing)
    const isKnown = known && known.from <= position && position + 2 <= known.at
    const at = isKnown ? known.at : position + indexIn(text, closing)
    next.set(closing, { from: isKnown ? known.from : position, at })
    return at - position > MAX_IN_BRACKETS
  }
}

/** Where it is, or else where it may still come. */
function indexIn(text: string, closing: string): number {
  const index = text.indexOf(closing, 2)
  return index === -1 ? text.length - 1 : index
}

/** The formula that a text begins with. */
export function formulaInText(text: string): string | undefined {
  const [formula] = IN_TEXT.exec(text) ?? []
  return formula && !AMOUNT.test(formula) ? formula : undefined
}

/** The formula on lines of its own that a text begins with, with the end of its last line. */
export function formulaOnLines(text: string): string | undefined {
  const [formula, inBrackets = '='] = ON_LINES.exec(text) ?? []
  return formula && MATHEMATICAL.test(inBrackets) ? formula : undefined
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
