export type Value = string | number | boolean | null | undefined | Uint8Array | readonly Value[]

/** A database row, keyed by column name. */
export type Row = Readonly<Record<string, unknown>>

/**
 * One statement in SQL that both databases understand; `$1` is its first parameter. Each connection prepares it once
 * and keeps it, unless it was composed for a particular query, because there would be too many of these.
 */
export type Statement = string | { unprepared: string }

/** Runs a query that sees what was committed before it. Stops waiting for the result after `milliseconds`. */
export type Read = (
  statement: Statement,
  values?: readonly Value[],
  milliseconds?: number,
) => Promise<Row[]>

/** Reads the first row of a query; undefined if there is none. */
export async function readOne<Result>(
  read: Read,
  statement: Statement,
  values: readonly Value[],
  toResult: (row: Row) => Result,
): Promise<Result | undefined> {
  const [row] = await read(statement, values)
  return row && toResult(row)
}

/**
 * A transaction. Statements run in the order in which they are called; PostgreSQL receives those of one `Promise.all`
 * without waiting for their answers, so that they cost one round trip.
 */
export interface Tx {
  all(statement: Statement, values?: readonly Value[]): Promise<Row[]>
  one(statement: Statement, values?: readonly Value[]): Promise<Row | undefined>
  /** Returns how many rows were changed. */
  run(statement: Statement, values?: readonly Value[]): Promise<number>
}

/** Another transaction came in between; the same work may well succeed when it is repeated at once. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
}

/** The value of an integer column. Throws `TypeError` if there is no row or the value has another type. */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column]
  if (typeof value !== 'number') throw wrongType(column, 'an integer', value)
  return value
}

/** The value of a text column. Throws `TypeError` if there is no row or the value has another type. */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value !== 'string') throw wrongType(column, 'text', value)
  return value
}

/** The value of a text column that holds one of these. Throws `TypeError` for any other. */
export function oneOf<T extends string>(
  values: readonly T[],
  row: Row | undefined,
  column: string,
): T {
  const value = text(row, column)
  const match = values.find((each) => each === value)
  if (match === undefined) throw new TypeError(`The column ${column} should not hold ${value}`)
  return match
}

/** The value of a bytes column. Throws `TypeError` if there is no row or the value has another type. */
export function bytes(row: Row | undefined, column: string): Uint8Array {
  const value = row?.[column]
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes', value)
  return value
}

/** Like `text`, but NULL becomes `undefined`. */
export function optionalText(row: Row | undefined, column: string): string | undefined {
  return row?.[column] === null ? undefined : text(row, column)
}

/** Like `integer`, but NULL becomes `undefined`. */
export function optionalInteger(row: Row | undefined, column: string): number | undefined {
  return row?.[column] === null ? undefined : integer(row, column)
}

function wrongType(column: string, expected: string, value: unknown): TypeError {
  return new TypeError(`The column ${column} should hold ${expected}, not ${typeof value}`)
}
