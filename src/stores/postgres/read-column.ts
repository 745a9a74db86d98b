import { fromColumn } from './text-codec.ts'

// https://www.postgresql.org/docs/current/catalog-pg-type.html
const BOOLEAN = 16
const BYTES = 17
const LONG = 20
const INTEGER = 23
const DOUBLE = 701
const LONGS = 1_016

/** How the client library reads a column of this type, of which it has the text. */
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
    case LONGS:
      return (value) => (value === '{}' ? [] : value.slice(1, -1).split(',').map(Number))
    default:
      return fromColumn
  }
}
