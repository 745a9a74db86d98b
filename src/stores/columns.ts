/** A row of a database, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/** The value of a column that holds an integer. Throws `TypeError` where there is no row or another type. */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column]
  if (typeof value !== 'number') throw wrongType(column, 'an integer', value)
  return value
}

/** The value of a column that holds text. Throws `TypeError` where there is no row or another type. */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value !== 'string') throw wrongType(column, 'text', value)
  return value
}

/** As `text`, with NULL as `undefined`. */
export function optionalText(row: Row | undefined, column: string): string | undefined {
  return row?.[column] === null ? undefined : text(row, column)
}

/** The value of a column that holds bytes. Throws `TypeError` where there is no row or another type. */
export function bytes(row: Row | undefined, column: string): Uint8Array {
  const value = row?.[column]
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes', value)
  return value
}

/** As `integer`, with NULL as `undefined`. */
export function optionalInteger(row: Row | undefined, column: string): number | undefined {
  return row?.[column] === null ? undefined : integer(row, column)
}

function wrongType(column: string, expected: string, value: unknown): TypeError {
  return new TypeError(`The column ${column} should hold ${expected}, not ${typeof value}`)
}
