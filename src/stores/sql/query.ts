import type { MetadataValue } from '../../schemas/metadata.ts'
import type { Row } from './rows.ts'

export type Value = string | number | boolean | null | undefined | Uint8Array | readonly Value[]

/**
 * One statement in SQL that both databases understand; `$1` is its first parameter. Each connection prepares it once
 * and keeps it, unless it is `made` for a particular query, because there would be too many of these.
 */
export type Statement = string | { made: string }

/** Runs a query that sees what was committed before it. Stops waiting for the result after `milliseconds`. */
export type Read = (
  statement: Statement,
  values?: readonly Value[],
  milliseconds?: number,
) => Promise<Row[]>

/** Runs a statement within the caller's transaction. */
export type Run = (text: string, values?: readonly Value[]) => Promise<Row[]>

/** How the databases differ in queries that are otherwise the same. */
export interface SqlDialect {
  /** The schema that contains the tables. */
  schema: 'main' | 'agent_server'
  /** Completes a condition: "is one of the numbers in the array `$1`". */
  isInFirst: string
  /** Returns one row with a column for each of the counts. */
  counts: string
  /** The last four characters, in lower case, of a document's file name or title; must be written as in the index. */
  nameEnding: string
  /** The name of a document's file; NULL if it has none. */
  fileName: string
  /** A text in the form used for case-insensitive comparison and sorting, by code points. */
  fold(text: string): string
  /** The value in a row of `metadata` if it is a number or a boolean, and if it is a string; otherwise NULL. */
  number: string
  string: string
  /** Compares the value in a row of `metadata`; a value of another kind never matches. */
  compare(operator: string, value: MetadataValue, parameter: Parameter): string
  /** Whether the value is one of these; uses the index, too. */
  isOneOf(values: readonly MetadataValue[], parameter: Parameter): string
}

/** Adds a value and returns its placeholder in the text of a statement. */
export type Parameter = (value: string | number) => string
