/** How a text such as CSV separates and quotes its values. */
export interface Dialect {
  delimiter: string
  quote: '"' | "'"
  /** Whether a backslash before a quotation mark makes it literal, as well as doubling it does. */
  hasBackslashes: boolean
}

interface DelimitedRows {
  rows: string[][]
  /** Quotation marks that neither begin nor end a value, nor are doubled. */
  strayQuotes: number
  /** Values that are quoted after blanks. */
  spacedQuotes: number
}

const BREAK = '\n'

/**
 * Reads at most `maximum` rows, including empty ones. A quotation mark that is not closed is literal, and so is one whose
 * value goes on in the same line behind another mark. Takes time in proportion to the text.
 */
export function readDelimited(
  text: string,
  dialect: Dialect,
  maximum = Number.POSITIVE_INFINITY,
): DelimitedRows {
  const result: DelimitedRows = { rows: [], strayQuotes: 0, spacedQuotes: 0 }
  const readQuoted = quotedReader(text, dialect, result)
  let at = text.startsWith('\ufeff') ? 1 : 0
  let row: string[] = []
  while (at < text.length && result.rows.length < maximum) {
    const quoted = readQuoted(at)
    const end = quoted?.end ?? endOfPlain(text, at, dialect.delimiter)
    row.push(quoted?.value ?? text.slice(at, end).trim())
    at = end + 1
    const isAtEnd = end >= text.length
    if (isAtEnd || text[end] === BREAK) {
      result.rows.push(row)
      row = []
    } else if (at === text.length) {
      // The text ends in a delimiter.
      result.rows.push([...row, ''])
    }
  }
  return result
}

function endOfPlain(text: string, start: number, delimiter: string): number {
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (sign === delimiter || sign === BREAK) return at
  }
  return text.length
}

/** Reads the quoted value that begins at an offset, if one does. */
function quotedReader(text: string, dialect: Dialect, result: DelimitedRows) {
  const { quote, hasBackslashes } = dialect
  /** Before this offset no value is closed, so that none is looked for again. */
  let openUntil = 0
  const plain = (value: string) => {
    const single = value.replaceAll(quote + quote, quote)
    return hasBackslashes ? single.replaceAll(/\\(["'\\])/g, '$1') : single
  }
  return (start: number): { value: string; end: number } | undefined => {
    const open = afterBlanks(text, start, dialect)
    if (text[open] !== quote || open < openUntil) return undefined
    const { closing, strayQuotes, limit } = closingOf(text, open, dialect)
    result.strayQuotes += strayQuotes
    if (closing === undefined) {
      openUntil = limit
      return undefined
    }
    if (open > start) result.spacedQuotes++
    return {
      value: plain(text.slice(open + 1, closing)),
      end: afterBlanks(text, closing + 1, dialect),
    }
  }
}

function afterBlanks(text: string, from: number, { delimiter }: Dialect): number {
  let at = from
  while (text[at] === ' ' || (text[at] === '\t' && delimiter !== '\t')) at++
  return at
}

/** The offset of the quotation mark that closes a value; undefined if none does before `limit`. */
function closingOf(text: string, open: number, dialect: Dialect) {
  const { quote } = dialect
  let limit = text.length
  let strayQuotes = 0
  let mark = text.indexOf(quote, open + 1)
  while (mark >= 0 && mark < limit) {
    const length = literalLength(text, mark, dialect)
    const isStray = length === 0 && !isBeforeNext(text, mark, dialect)
    if (length === 0 && !isStray) return { closing: mark, strayQuotes, limit }
    if (isStray) {
      // A mark that closes nothing in a later line than it opened is rather another value's.
      if (strayQuotes === 0) limit = Math.max(mark, lineEnd(text, open))
      strayQuotes++
    }
    mark = text.indexOf(quote, mark + Math.max(length, 1))
  }
  return { strayQuotes: strayQuotes + 1, limit }
}

function isBeforeNext(text: string, mark: number, dialect: Dialect): boolean {
  const next = text[afterBlanks(text, mark + 1, dialect)]
  return next === undefined || next === dialect.delimiter || next === BREAK
}

/** How many characters a quotation mark within a value takes that is doubled or behind a backslash; 0 if it is neither. */
function literalLength(text: string, mark: number, { quote, hasBackslashes }: Dialect): number {
  let backslashes = 0
  while (hasBackslashes && text[mark - 1 - backslashes] === '\\') backslashes++
  if (backslashes % 2 === 1) return 1
  return text[mark + 1] === quote ? 2 : 0
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf(BREAK, from)
  return end < 0 ? text.length : end
}
