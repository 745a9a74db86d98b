import type { Value } from '../sql/query.ts'

/** Encodes a value for the client library. */
export function toParameter(value: Value): unknown {
  if (typeof value === 'string') return toColumn(value)
  return Array.isArray(value) ? value.map(toParameter) : value
}

// https://www.postgresql.org/docs/current/catalog-pg-type.html
const BOOLEAN = 16
const BYTES = 17
const LONG = 20
const INTEGER = 23
const DOUBLE = 701

/** Returns the parser that the client library uses for the text of a column of this type. */
export function readColumn(type: number): (value: string) => unknown {
  switch (type) {
    case BOOLEAN:
      return (value) => value === 't'
    case BYTES:
      return (value) => Buffer.from(value.slice('\\x'.length), 'hex')
    case LONG:
    case INTEGER:
    case DOUBLE:
      return Number
    default:
      return fromColumn
  }
}

// PostgreSQL's text holds every character but NUL. A noncharacter, which no text should contain, stands in for it; if
// a text contains it anyway, it is escaped: https://www.unicode.org/faq/private_use.html#nonchar1
const MARK = '\uFDD0'
const NUL = `${MARK}0`
const ITSELF = `${MARK}1`

/** Encodes a text so that a column can hold it. */
export function toColumn(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text
  return text.replaceAll(MARK, ITSELF).replaceAll('\0', NUL)
}

/** Decodes a text encoded by `toColumn`. */
export function fromColumn(column: string): string {
  if (!column.includes(MARK)) return column
  return column.replaceAll(NUL, '\0').replaceAll(ITSELF, MARK)
}
