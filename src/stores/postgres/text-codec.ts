// PostgreSQL's text holds every character but NUL. A noncharacter, which no text should hold, stands in for it; where
// one holds it all the same, it is marked as itself: https://www.unicode.org/faq/private_use.html#nonchar1
const MARK = '\uFDD0'
const NUL = `${MARK}0`
const ITSELF = `${MARK}1`

/** A text as a column can hold it. */
export function toColumn(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text
  return text.replaceAll(MARK, ITSELF).replaceAll('\0', NUL)
}

/** The text that a column was given by `toColumn`. */
export function fromColumn(column: string): string {
  if (!column.includes(MARK)) return column
  return column.replaceAll(NUL, '\0').replaceAll(ITSELF, MARK)
}
